"""The models that answer on the site's first page: their weights, as scripts, and the map that is there before these."""
import base64
import gzip
import json
import pathlib
import shutil

import torch
from matplotlib.colors import to_hex

from helpers import plots
from helpers.pretrained.dates import LONGEST, SOURCE, TARGET, date_model, encode, read_date
from helpers.pretrained.translator import load_translator
from helpers.pretrained.weights import SHIPPED
from helpers.text import BOS, pad

PAGES = pathlib.Path(__file__).parent / "pages"
LIVE = {"00_start_here": ("live-dates", "a date"), "09_translation": ("live-translator", "a sentence")}     # the places
TEXT, HEAD, QUERY, KEY = "sunday november 30 1997", 2, 6, 9             # of lesson 0: the v whose cut changes the month


def write(folder):
    """The scripts of the first page; returns what its template needs."""
    for name in ("model.js", "reading.js", "live.js"):
        shutil.copy(PAGES / name, folder)
    write_dates(folder)
    return {"first": first_look(), "megabytes": round(write_translator(folder) / 1e6)}


def write_dates(folder):
    """`dates.weights.js`; returns its bytes."""
    return write_weights(folder, "dates", date_model(), source=SOURCE.tokens, target=TARGET.tokens, unit="characters",
                         longest=LONGEST, max_len=12, example=f"type a date of 1 to {LONGEST}, such as {TEXT}")


def write_translator(folder):
    """`translator.weights.js`, in half precision, as it ships; returns its bytes."""
    model, tokenizer = load_translator()
    tokens = [tokenizer.id_to_token(i) for i in range(tokenizer.get_vocab_size())]
    merges = [" ".join(pair) for pair in json.loads(tokenizer.to_str())["model"]["merges"]]
    return write_weights(folder, "translator", model, source=tokens, target=tokens, merges=merges, unit="subwords",
                         longest=60, max_len=60, example="type a sentence of 1 to 60, such as I would like a cup of tea.")


def write_weights(folder, name, model, **values):
    """A script that gives live.js the values, the file of weights that ships, and the sizes that this file does not tell."""
    values["num_heads"], values["base"] = model.decoder.layers[0].cross_attn.num_heads, model.tgt_embed.positions.base
    values["weights"] = base64.b64encode(gzip.compress((SHIPPED / f"{name}.safetensors").read_bytes(), mtime=0)).decode()
    return (folder / f"{name}.weights.js").write_text(f"shipped({json.dumps(name)}, {json.dumps(values)});\n", encoding="utf-8")


@torch.no_grad()
def first_look():
    """What the first page shows before it has the weights: the answer to TEXT, its map, and the probabilities."""
    model = date_model()
    answer, weights = read_date(model, TEXT)
    ids = TARGET.encode(answer)
    logits = model(*pad([encode(TEXT)]), torch.tensor([[BOS, *ids[:-1]]]))[0]                    # [T, vocab_size]
    probabilities = logits.softmax(-1)[torch.arange(len(ids)), ids]
    rows = [{"query": token, "colors": [to_hex(plots.WEIGHTS(weight)) for weight in row], "p": f"{100 * p:.1f} %"}
            for token, row, p in zip(answer, weights[HEAD].tolist(), probabilities.tolist())]
    alt = (f"Map of attention, head {HEAD}, of a Transformer that reads “{TEXT}” and writes {answer}: a row for each character "
           "written, a column for each typed. For the second 1 of 11 it looks at the v of november.")
    return {"text": TEXT, "answer": answer, "head": HEAD, "query": QUERY, "key": KEY, "alt": alt, "rows": rows,
            "typed": ["␣" if key == " " else key for key in TEXT]}
