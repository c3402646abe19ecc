"""One step of pretraining, the same whether one process takes it or many that `torchrun` starts."""
import contextlib
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

from helpers.text import PAD


@contextlib.contextmanager
def processes():
    """(rank, world, device): which process this is, of how many, and where it computes.

    torchrun says so in the environment; without it this is the only one. The device is a GPU if
    there is one, a GPU for each process of a host.
    """
    gpu, local_rank = torch.cuda.is_available(), int(os.environ.get("LOCAL_RANK", 0))
    device = torch.device("cuda", local_rank) if gpu else torch.device("cpu")
    if "RANK" not in os.environ:
        yield 0, 1, device
        return
    if gpu:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if gpu else "gloo")
    try:
        yield dist.get_rank(), dist.get_world_size(), device
    finally:
        dist.destroy_process_group()


def together(model, tensors, record):
    """The model, its gradients averaged over all processes, which take the tensors of the first.

    Raises ValueError where a process has another record than the first.
    """
    records = [None] * dist.get_world_size()
    dist.all_gather_object(records, record)
    if any(other != record for other in records):
        raise ValueError("the processes differ in their options or their text: "
                         "all need the same command and the same libraries")
    for tensor in tensors.values():
        dist.broadcast(tensor, 0)
    return DistributedDataParallel(model)


def train_step(model, optimizer, batch, lr, rank=0, world=1, bf16=False):
    """One step of Adam for this process's rows of a batch; return both losses of the whole batch.

    batch: as `pretraining_batches` makes it, the same one in each process. Each sums over its own
    rows and divides by the number in the whole batch, which it knows, so that the sums add up to
    the mean that one process would have found. DistributedDataParallel averages the gradients,
    hence the factor `world`. Raises ValueError for a loss that is not finite, and changes nothing.
    """
    hidden, pairs, device = (batch[4] != PAD).sum(), len(batch[5]), next(model.parameters()).device
    ids, lengths, segments, positions, words, is_next = (t[rank::world].to(device) for t in batch)
    with torch.autocast(device.type, torch.bfloat16, enabled=bf16):
        mlm_logits, nsp_logits = model(ids, lengths, segments, positions)
        word_losses = F.cross_entropy(mlm_logits.flatten(0, 1), words.flatten(), ignore_index=PAD,
                                      reduction="sum")
        next_losses = F.cross_entropy(nsp_logits, is_next, reduction="sum")
    losses = torch.stack([word_losses / hidden, next_losses / pairs])      # this process's part

    total = losses.detach().clone()
    if world > 1:
        dist.all_reduce(total)
    if not total.isfinite().all():
        raise ValueError(f"the loss is {total.sum().item()} at lr={lr:g}: a smaller lr may help")

    optimizer.zero_grad()
    (world * losses.sum()).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.param_groups[0]["lr"] = lr
    optimizer.step()
    return total.tolist()
