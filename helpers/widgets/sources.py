"""What an explorer shows, read from a model of this course and a text, or from the outputs of a Hugging Face model."""
import inspect

import torch
from torch import Tensor, nn

from helpers.hooks import hook_points, visible, weights_chosen, what_if

OUTPUTS = ["attentions", "encoder_attentions", "decoder_attentions", "cross_attentions"]


def read_model(model: nn.Module, tokenizer, text, where: str | None = None) -> dict:
    """The arguments of an explorer of all layers and heads; see `AttentionExplorer.of_model`."""
    if where is None:
        where = "cross_attn" if any("cross_attn" in path for path in hook_points(model)) else ""
    names, path = list(inspect.signature(model.forward).parameters), weights_chosen(model, where)[0]
    if "tgt" in names:
        given, query_tokens, key_tokens = source_and_target(tokenizer, text, path)
    else:
        ids, tokens, segments = encoded(tokenizer, text)
        given = {"ids": ids, "lengths": len(ids), "segments": segments, "positions": range(len(ids))}
        query_tokens = key_tokens = tokens
    device = next(model.parameters()).device
    inputs = [torch.tensor([given[name]], device=device) for name in names if name in given]
    _, weights = what_if(model, lambda: model(*inputs), where)([])         # [layer, head, T_q, T_k]
    return {"weights": weights.nan_to_num(0.0), "mask": ~weights.isnan(), "query_tokens": query_tokens, "key_tokens": key_tokens}


def source_and_target(tokenizer, text, path):
    """What an encoder-decoder is called with, by name, and the tokens of the queries and of the keys at a path."""
    if isinstance(text, str) or len(text) != 2:
        raise ValueError(f"text={text!r}: this model reads a source and a target, (source, target)")
    source, target = tokenizer if isinstance(tokenizer, (tuple, list)) else (tokenizer, tokenizer)
    (src, read, _), (tgt, written, _) = encoded(source, text[0]), encoded(target, text[1])
    given = {"src": src, "lengths": len(src), "tgt": [target.index["<bos>"], *tgt]}
    if path.startswith("encoder"):
        return given, read, read
    if "self_attn" in path:
        return given, ["<bos>", *written], ["<bos>", *written]
    return given, [*written, "<eos>"], read                  # a row is named by what the decoder writes there


def encoded(tokenizer, text):
    """(ids, tokens, segments) of a text, from a `Vocab` or a tokenizer of the package tokenizers."""
    if not hasattr(tokenizer, "tokens"):
        found = tokenizer.encode(text) if isinstance(text, str) else tokenizer.encode(*text)
        return found.ids, found.tokens, found.type_ids
    words = [token for token in tokenizer.tokens if len(token) > 1 and not token.startswith("<")]
    if isinstance(text, str) and words:
        raise ValueError(f"text={text!r}: a string is read as its characters, but this vocabulary has words, such as "
                         f"{words[0]!r}: give a list of tokens")
    ids = tokenizer.encode(text)
    if not ids:
        raise ValueError(f"text={text!r}: at least one token is needed")
    return ids, [tokenizer.tokens[i] for i in ids], [0] * len(ids)


def read_outputs(outputs, tokens, key_tokens=None, which: str = "attentions", row: int = 0) -> dict:
    """The arguments of an explorer of all layers and heads; see `AttentionExplorer.from_transformers`."""
    given = {name: getattr(outputs, name, None) or () for name in OUTPUTS}             # of each layer [B, head, T_q, T_k]
    there = [name for name, found in given.items() if found and all(isinstance(x, Tensor) and x.dim() == 4 for x in found)]
    if not there:
        raise ValueError("these outputs hold no attention weights: load the model with attn_implementation=\"eager\", and "
                         "call it (not its `generate`) with output_attentions=True")
    if which not in there:
        raise ValueError(f"which={which!r}: these outputs hold {', '.join(there)}")
    layers = getattr(outputs, which)
    if not 0 <= row < len(layers[0]):
        raise ValueError(f"row={row}: these outputs are of {len(layers[0])} texts, 0 to {len(layers[0]) - 1}")
    weights = torch.stack([layer[row].detach() for layer in layers])       # [layer, head, T_q, T_k]
    if key_tokens is None and which != "cross_attentions":
        key_tokens = tokens
    return {"weights": weights, "mask": visible(weights), "query_tokens": tokens, "key_tokens": key_tokens}
