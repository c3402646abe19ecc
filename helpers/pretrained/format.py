"""Published checkpoints of BERT: folders of config.json, model.safetensors and vocab.txt, as `transformers` writes and reads them.

A table says what they call each part of our model. In theirs, column 0 of the next-sentence scores is for a text that follows; in
ours it is column 1.
"""
import contextlib
import json
import pathlib
import re

import torch
from tokenizers import BertWordPieceTokenizer

from helpers.bert import EPS, Bert, BertForPretraining, set_eps
from helpers.pretrained.weights import atomic_write, fill, opened, own_tensors, read_whole, write
from helpers.text import read_wordpiece, save_wordpiece

NAMES = {                                                    # ours: theirs
    "embed.tokens": "embeddings.word_embeddings",
    "embed.positions.table": "embeddings.position_embeddings.weight",
    "embed.segments": "embeddings.token_type_embeddings",
    "embed.norm": "embeddings.LayerNorm",
    "encoder.layers": "encoder.layer",
    "self_attn.q_proj": "attention.self.query",
    "self_attn.k_proj": "attention.self.key",
    "self_attn.v_proj": "attention.self.value",
    "self_attn.out_proj": "attention.output.dense",
    "residuals.0.norm": "attention.output.LayerNorm",
    "feed_forward.up": "intermediate.dense",
    "feed_forward.down": "output.dense",
    "residuals.1.norm": "output.LayerNorm",
    "bert.pooler": "bert.pooler.dense",
    "mlm_head.transform": "cls.predictions.transform.dense",
    "mlm_head.norm": "cls.predictions.transform.LayerNorm",
    "mlm_head.output": "cls.predictions",                # its bias: the weight is that of the words
    "nsp_head": "cls.seq_relationship",
}
REPEATED = {                                                 # what some files hold a second time
    "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
    "cls.predictions.decoder.bias": "cls.predictions.bias",
}
SIZES = {
    "vocab_size": "vocab_size", "hidden_size": "d_model", "num_attention_heads": "num_heads", "intermediate_size": "d_ff",
    "num_hidden_layers": "num_layers", "max_position_embeddings": "max_len", "type_vocab_size": "num_segments",
}
FOUND_IN = {                                                 # where the weights show a size: a tensor, and its axis
    "vocab_size": ("bert.embeddings.word_embeddings.weight", 0),
    "hidden_size": ("bert.embeddings.word_embeddings.weight", 1),
    "intermediate_size": ("bert.encoder.layer.0.intermediate.dense.weight", 0),
    "max_position_embeddings": ("bert.embeddings.position_embeddings.weight", 0),
    "type_vocab_size": ("bert.embeddings.token_type_embeddings.weight", 0),
}
MODEL = {                                                    # what may stand in config.json; the first, where it says nothing
    "model_type": ["bert"], "hidden_act": ["gelu"], "position_embedding_type": ["absolute"], "is_decoder": [False],
    "add_cross_attention": [False], "tie_word_embeddings": [True],
}
TOKENIZER = {                                                # and in tokenizer_config.json
    "do_lower_case": [True, False], "strip_accents": [None, True, False], "tokenize_chinese_chars": [True],
    "tokenizer_class": ["BertTokenizer", "BertTokenizerFast", None],
}


def load_bert(folder) -> BertForPretraining:
    """The BERT of a published folder, in float32, without dropout until `train()` is called.

    The pooler and each of the two heads are there if the file has them. Raises FileNotFoundError where a file is not there, and
    ValueError, naming what is wrong, for another kind of model, a damaged file, and weights that do not fit or are there twice.
    """
    config, path = read_config(folder, MODEL), find(folder, "model.safetensors")
    check_numbers(config, path)                              # before anything is built of these sizes
    stored = in_one_spelling(read_whole(path)[0], path.name)
    mlm_head, nsp_head, pooler = (any(name.startswith(start) for name in stored)
                                  for start in ("cls.predictions.", "cls.seq_relationship.", "bert.pooler."))
    sizes = {ours: config[theirs] for theirs, ours in SIZES.items()}
    bert = Bert(**sizes, dropout=config.get("hidden_dropout_prob", 0.1), pooler=pooler or nsp_head)
    model = BertForPretraining(bert, mlm_head, nsp_head)
    set_eps(model, config.get("layer_norm_eps", EPS))
    fill(published(model), swapped(stored), f"{path.name} does not fit the BERT of its config.json")
    return model.eval()


def load_tokenizer(folder) -> BertWordPieceTokenizer:
    """The tokenizer of a published folder, from its vocab.txt; lower case if not said otherwise.

    Raises ValueError where config.json, if it is there, says another number of tokens; and errors as in `load_bert`.
    """
    folder = pathlib.Path(folder)
    known = (folder / "tokenizer_config.json").is_file()
    config = read_config(folder, TOKENIZER, "tokenizer_config.json") if known else {}
    tokenizer = read_wordpiece(find(folder, "vocab.txt"), config.get("do_lower_case", True), config.get("strip_accents"))
    size = read_config(folder, {}).get("vocab_size") if (folder / "config.json").is_file() else None
    if size not in (None, tokenizer.get_vocab_size()):
        raise ValueError(f"{folder / 'vocab.txt'} has {tokenizer.get_vocab_size()} tokens, but the model of its config.json "
                         f"{size}: the file was cut off, or is of another model")
    return tokenizer


def save_bert(model: BertForPretraining, folder, tokenizer: BertWordPieceTokenizer, record: dict | None = None,
              dtype: torch.dtype | None = None) -> None:
    """Write a BertForPretraining and its tokenizer as a published folder, which is made if need be.

    record, dtype: as in `save_weights`. Raises ValueError for a pre-norm model, which the layout does not have, for a tokenizer
    with another number of tokens, and for weights that are not finite, before anything is written.
    """
    bert, folder = model.bert, pathlib.Path(folder)
    table, layer = bert.embed, bert.encoder.layers[0]
    if layer.residuals[0].norm_first:
        raise ValueError('norm="pre": a published BERT has norm="post"')
    if tokenizer.get_vocab_size() != table.tokens.num_embeddings:
        raise ValueError(f"the tokenizer has {tokenizer.get_vocab_size()} tokens, but the model {table.tokens.num_embeddings}")
    heads = ["Model", "ForMaskedLM", "ForNextSentencePrediction", "ForPreTraining"]
    config = {key: allowed[0] for key, allowed in MODEL.items()} | {
        "architectures": ["Bert" + heads[bool(model.mlm_head) + 2 * bool(model.nsp_head)]],
        "vocab_size": table.tokens.num_embeddings, "hidden_size": table.tokens.embedding_dim,
        "num_attention_heads": layer.self_attn.num_heads, "intermediate_size": layer.feed_forward.up.out_features,
        "num_hidden_layers": len(bert.encoder.layers), "max_position_embeddings": len(table.positions.table),
        "type_vocab_size": table.segments.num_embeddings, "layer_norm_eps": table.norm.eps,
        "hidden_dropout_prob": table.dropout.p, "attention_probs_dropout_prob": table.dropout.p,
    }
    words = {"tokenizer_class": "BertTokenizer", "do_lower_case": tokenizer.normalizer.lowercase,
             "strip_accents": tokenizer.normalizer.strip_accents, "model_max_length": config["max_position_embeddings"]}
    folder.mkdir(parents=True, exist_ok=True)
    files = ["config.json", "tokenizer_config.json", "model.safetensors", "vocab.txt"]
    with contextlib.ExitStack() as stack:                    # none takes the place of another before all are written
        *configs, weights, vocabulary = [stack.enter_context(atomic_write(folder / name)) for name in files]
        write(swapped(published(model)), weights, record, dtype)
        for part, content in zip(configs, (config, words)):
            part.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8", newline="\n")
        save_wordpiece(tokenizer, vocabulary)


def published(model):
    """The tensors of a model under their names."""
    theirs = {}
    for name, tensor in own_tensors(model).items():
        for mine, published_name in NAMES.items():
            name = name.replace(mine, published_name)
        theirs[name] = tensor
    return theirs


def swapped(tensors):
    """The same tensors, but with the two columns of the next-sentence scores in the other order."""
    return {name: tensor.flip(0) if name.startswith("cls.seq_relationship.") else tensor for name, tensor in tensors.items()}


def in_one_spelling(tensors, file):
    """The tensors of a file as new files name them, once each; raise ValueError for what is there twice and differs.

    Old files call the weight and bias of a layer norm gamma and beta, and number the places; those without heads leave out "bert.".
    """
    stored = {}
    for name, tensor in tensors.items():
        if name.endswith("embeddings.position_ids"):
            continue
        new = new_name(name)
        if new in stored:
            raise ValueError(f"{file}: {new} is there twice, the second time as {name}")
        stored[new] = tensor
    for copy, name in REPEATED.items():
        if copy in stored:
            tensor = stored.pop(copy)
            if not torch.equal(tensor, stored.setdefault(name, tensor)):
                raise ValueError(f"{file}: {copy} differs from {name}, but in this BERT they are one and the same")
    return stored


def new_name(name):
    """What new files call a tensor of an old one."""
    name = name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")
    return re.sub(r"^(embeddings|encoder|pooler)\.", r"bert.\1.", name)


def check_numbers(config, path):
    """Raise unless config.json has the sizes of a file's tensors, which are not read, and other numbers that can be."""
    with opened(path) as stored:
        named = {new_name(name): stored.get_slice(name).get_shape() for name in stored.keys()}
    shapes = {REPEATED.get(name, name): shape for name, shape in named.items()} | named
    missing = sorted({name for name, _ in FOUND_IN.values() if len(shapes.get(name, [])) != 2})
    if missing:
        raise ValueError(f"{path.name} does not fit the BERT of its config.json. Missing as a matrix: {', '.join(missing)}")
    layers = {found[1] for name in shapes if (found := re.match(r"bert\.encoder\.layer\.(\d+)\.", name))}
    found = {size: shapes[name][axis] for size, (name, axis) in FOUND_IN.items()} | {"num_hidden_layers": len(layers)}
    wrong = [f"{size} is {config.get(size)!r}, but {there} in {path.name}" for size, there in found.items()
             if type(config.get(size)) is not int or config[size] != there]
    heads = config.get("num_attention_heads")
    if type(heads) is not int or heads < 1:
        wrong.append(f"num_attention_heads is {heads!r}, but needs to be a whole number from 1 on")
    wrong += [f"{key} is {config[key]!r}, but needs to be a number from 0 to 1" for key in ("layer_norm_eps", "hidden_dropout_prob")
              if type(config.get(key, 0)) not in (int, float) or not 0 <= config.get(key, 0) <= 1]
    if wrong:
        raise ValueError(f"config.json: {'; '.join(wrong)}")


def read_config(folder, allowed, name="config.json"):
    """The dictionary in a file; raise ValueError if it is none, or says what is not allowed."""
    path = find(folder, name)
    try:
        config = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name} is no JSON: {error}") from error
    if not isinstance(config, dict):
        raise ValueError(f"{name} holds a {type(config).__name__}: it needs to be names and values in braces")
    wrong = [f"{key} is {config[key]!r}, but needs to be {' or '.join(map(repr, values))}" for key, values in allowed.items()
             if json.dumps(config.get(key, values[0])) not in map(json.dumps, values)]       # JSON tells 1 and true apart
    if wrong:
        raise ValueError(f"{name}: {'; '.join(wrong)}")
    return config


def find(folder, name):
    """The path of a file in a folder; raise FileNotFoundError, with what is there, if it is not."""
    path = pathlib.Path(folder) / name
    if not path.is_file():
        there = sorted(file.name for file in path.parent.iterdir()) if path.parent.is_dir() else []
        raise FileNotFoundError(f"no {name} in {folder}, only {', '.join(there) or 'nothing'}: a published BERT is a folder with "
                                "config.json, model.safetensors and vocab.txt")
    return path
