"""The losses of one step of pretraining, the same whether one process takes it or many that `torchrun` starts."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, nn

from helpers.text import PAD


def step_losses(model: nn.Module, batch, rank: int = 0, world: int = 1, bf16: bool = False) -> Tensor:
    """Masked LM and next sentence loss [2] of a whole batch, of which this process reads its rows.

    batch: as `pretraining_batches` makes it, the same one in each of `world` processes. Each sums
    over its own rows and divides by the number in the whole batch, which it knows, so that the sums
    of all add up to the mean that one process would find. DistributedDataParallel averages the
    gradients, hence the factor `world`. bf16: matrix products in bfloat16.
    """
    tokens, pairs = (batch[4] != PAD).sum(), len(batch[5])                 # of the whole batch
    ids, lengths, segments, positions, labels, is_next = (t[rank::world] for t in batch)
    with torch.autocast(ids.device.type, torch.bfloat16, enabled=bf16):
        mlm_logits, nsp_logits = model(ids, lengths, segments, positions)
        mlm_loss = F.cross_entropy(mlm_logits.flatten(0, 1), labels.flatten(), ignore_index=PAD, reduction="sum")
        nsp_loss = F.cross_entropy(nsp_logits, is_next, reduction="sum")
    losses = torch.stack([mlm_loss / tokens, nsp_loss / pairs])            # this process's part

    total = losses.detach().clone()
    if world > 1:
        dist.all_reduce(total)
    return total + world * (losses - losses.detach())          # plus zero, which has the gradient
