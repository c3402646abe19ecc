"""Read, or change, the attention weights of any model while it runs."""
from contextlib import contextmanager


@contextmanager
def record(model, change=None):
    """Keep the weights that pass every `attention_weights` wire inside `model`, for as long as the block lasts.

        with record(model) as seen:
            model(x)
        seen["encoder.layers.0.self_attn.attention_weights"][0]      # weights of the first call

    change: a function of (path, weights). What it returns goes on in their place and is what is kept;
        where it returns None the weights pass as they are.
    Yields a dictionary, from the path of each wire to its list of detached tensors, one a call.
    Raises ValueError when the model has no such wire.
    """
    wires = {path: module for path, module in model.named_modules() if path.split(".")[-1] == "attention_weights"}
    if not wires:
        raise ValueError(f"nothing to watch: {type(model).__name__} has no submodule named attention_weights")
    seen = {}

    def watch(path):
        def hook(wire, inputs, weights):
            changed = change(path, weights) if change else None
            weights = weights if changed is None else changed
            seen.setdefault(path, []).append(weights.detach())
            return weights
        return hook

    handles = [wire.register_forward_hook(watch(path)) for path, wire in wires.items()]
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()
