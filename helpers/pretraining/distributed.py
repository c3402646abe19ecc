"""The processes that `torchrun` starts: which one this is, where it computes, and a model that all of them train."""
import contextlib
import os
from collections.abc import Iterator

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel


@contextlib.contextmanager
def processes() -> Iterator[tuple[int, int, torch.device]]:
    """(rank, world, device): which process this is, of how many, and where it computes.

    torchrun says so in the environment; without it this is the only one. Where there are GPUs, each process of a host has one.
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


def together(model: nn.Module, tensors: dict[str, Tensor], record: dict) -> nn.Module:
    """The model, its gradients averaged over all processes, which take the tensors of the first.

    Raises ValueError where a process has another record than the first.
    """
    records = [None] * dist.get_world_size()
    dist.all_gather_object(records, record)
    if any(other != record for other in records):
        raise ValueError("the processes differ in their options or their text: all need the same command and the same libraries")
    for tensor in tensors.values():
        dist.broadcast(tensor, 0)
    return DistributedDataParallel(model)
