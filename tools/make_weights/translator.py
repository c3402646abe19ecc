"""Trains the translator of lesson 9 that ships, English to French, on the published pairs of fra-eng.

Six minutes of a data centre's GPU, or some hours of one core.

Held out are 2,000 English sentences to test on and 500 to look at on the way, with all their translations: no English and no
French sentence is on both sides. Subwords are learned from the other pairs. English is read in small letters, and one sentence in
ten without its final mark, so that the reader's own sentence may lack both. An interrupted run goes on from its last checkpoint.

Then, or with --measure alone, two tables. translator.csv: BLEU by length, beside that of a table of phrases that was counted on the
same pairs. translator_search.csv: what wider beams find for the first 500 test sentences; this takes some minutes of one core.
"""
import argparse
import itertools
import pathlib
import random
import unicodedata

import sacrebleu
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from helpers.data.translation import load_translation
from helpers.generation import beam_search, translate
from helpers.pretrained.translator import load_translator
from helpers.pretrained.weights import SHIPPED, save_weights
from helpers.text import SPECIAL, Vocab, batches, pad, split_words
from helpers.training import one_cycle, sequence_loss, to_device
from helpers.transformer import Transformer
from tests.benchmarks.phrases import translator
from tools.make_weights import decoding
from tools.make_weights.resumed import device_name, train_resumed

TEST, VALIDATION, VOCABULARY, BATCH, EPOCHS, RATE, MOST, SEARCHED = 2000, 500, 6000, 512, 25, 2e-3, 60, 500
SIZES = {"d_model": 256, "num_heads": 8, "d_ff": 1024, "num_layers": 3, "dropout": 0.1, "shared": True}
SAVE_EVERY, MEASURE_EVERY = 500, 2000                        # steps
GROUPS = [(1, 4), (5, 6), (7, 8), (9, 12), (13, 100)]        # words and marks of the English sentence
SHORT = 12                                                   # words and marks of the pairs that phrases are counted in


def plain(text):
    """One way to write each character, and one apostrophe."""
    return unicodedata.normalize("NFC", text).replace("’", "'")


def split(pairs):
    """(train, validation, test), each a list of pairs; those held out have each English sentence once."""
    pairs = [(plain(english), plain(french)) for english, french in pairs]
    translations = {}
    for english, french in pairs:
        translations.setdefault(english, []).append(french)
    chance = random.Random(0)
    asked = chance.sample(sorted(translations), TEST + VALIDATION)
    hidden = {english.lower() for english in asked}, {french for english in asked for french in translations[english]}
    held_out = [(english, chance.choice(translations[english])) for english in asked]
    left = [pair for pair in pairs if pair[0].lower() not in hidden[0] and pair[1] not in hidden[1]]
    return left, held_out[TEST:], held_out[:TEST]


def learn_subwords(pairs):
    """A tokenizer of byte pair encoding (Sennrich et al. 2016) for both languages; a ▁ begins each word."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Metaspace(), pre_tokenizers.Punctuation("isolated")])
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=SPECIAL, show_progress=False)
    tokenizer.train_from_iterator((text for english, french in pairs for text in (english.lower(), french)), trainer)
    return tokenizer


def encoded(pairs, tokenizer):
    """(source ids, source ids without the final mark, target ids) of all pairs."""
    sources = [english.lower() for english, _ in pairs]
    columns = sources, [text.rstrip(".!?") for text in sources], [french for _, french in pairs]
    rows = zip(*([found.ids for found in tokenizer.encode_batch(texts)] for texts in columns))
    return [row for row in rows if row[1] and all(len(ids) <= MOST for ids in row)]


def endless(rows, first, steps):
    """The batches from step `first` to the last one, as if none had been interrupted; in every epoch others lose their mark."""
    step = 0
    for epoch in itertools.count():
        chance = random.Random(epoch)
        data = [(bare if chance.random() < 0.1 else source, target) for source, bare, target in rows]
        for batch in batches(data, BATCH, -(-len(data) // BATCH), seed=epoch):
            if step == steps:
                return
            step += 1
            if step > first:
                yield batch


def greedily(model, src, lengths):
    """The ids of greedy translations."""
    return translate(model, src, lengths, MOST)


@torch.no_grad()
def written(model, tokenizer, sentences, search=greedily, batch_size=100):
    """The translations of English sentences, as text."""
    texts = []
    device = next(model.parameters()).device
    for i in range(0, len(sentences), batch_size):
        src, lengths = to_device(pad([tokenizer.encode(text.lower()).ids for text in sentences[i:i + batch_size]]), device)
        texts += tokenizer.decode_batch([row.tolist() for row in search(model, src, lengths)])
    return texts


def score(model, tokenizer, pairs):
    """(corpus BLEU of the greedy translations against one reference each, sacrebleu's signature)."""
    bleu = sacrebleu.BLEU()
    found = bleu.corpus_score(written(model, tokenizer, [e for e, _ in pairs]), [[f for _, f in pairs]])
    return found.score, str(bleu.get_signature())


def low_precision_loss(model, *batch):
    """Matrix products in bfloat16: twice as fast on processors that have it."""
    with torch.autocast(next(model.parameters()).device.type, torch.bfloat16):
        return sequence_loss(model, *batch, label_smoothing=0.1)


def make(path, folder: pathlib.Path, work: pathlib.Path) -> None:
    """Train, with a checkpoint in `work`; measure; save weights and subwords in `folder`."""
    known, validation, test = split(load_translation("fra-eng", path=path))
    tokenizer = learn_subwords(known)
    rows = encoded(known, tokenizer)
    steps = EPOCHS * len(known) // BATCH
    torch.manual_seed(0)
    device, size = "cuda" if torch.cuda.is_available() else "cpu", tokenizer.get_vocab_size()
    model = Transformer(size, size, **SIZES).to(device)
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), fused=True)

    def report(done, seconds, losses):
        measured = f", validation BLEU {score(model, tokenizer, validation)[0]:.1f}" if done % MEASURE_EVERY == 0 else ""
        print(f"{done} of {steps} steps, {seconds:.0f} s, loss {sum(losses) / len(losses):.3f}{measured}", flush=True)

    seconds = train_resumed(model, optimizer, lambda done: endless(rows, done, steps), low_precision_loss, RATE,
                            one_cycle(steps, warm=0.1), work / "translator.pt", SAVE_EVERY, report)
    bleu, signature = score(model, tokenizer, test)
    record = {"sizes": SIZES, "vocab_size": size, "steps": steps, "batch": BATCH, "seconds": round(seconds),
              "device": device_name(model), "pairs": len(known), "bleu": round(bleu, 1), "signature": signature,
              "data": "fra-eng of ManyThings and Tatoeba, CC BY 2.0"}
    print(record)
    save_weights(model, folder / "translator.safetensors", record, torch.float16)
    tokenizer.save(str(folder / "translator.json"))


def in_words(texts):
    """Texts as BLEU compares them with phrases: small letters, words and marks between spaces."""
    return [" ".join(split_words(text)) for text in texts]


def phrases(known, sentences):
    """What the table of phrases writes for English sentences; counted in the pairs of up to SHORT words."""
    pairs = [(english, french) for pair in known for english, french in [map(split_words, pair)]
             if max(len(english), len(french)) <= SHORT]
    en, fr = (Vocab(texts, min_count=5) for texts in zip(*pairs))
    return [" ".join(words) for words in map(translator(pairs, en, fr), map(split_words, sentences))]


def search_rows(model, tokenizer, pairs, batch_size=10):
    """The rows of translator_search.csv."""
    parts = [pad([tokenizer.encode(english.lower()).ids for english, _ in pairs[i:i + batch_size]])
             for i in range(0, len(pairs), batch_size)]
    return decoding.search_rows(model, parts, [french for _, french in pairs], lambda ids: tokenizer.decode(ids.tolist()), MOST)


def measure(path, folder: pathlib.Path) -> None:
    """Write translator.csv and translator_search.csv for the weights that ship."""
    known, _, test = split(load_translation("fra-eng", path=path))
    model, tokenizer = load_translator()
    english, french = map(list, zip(*test))
    found = {"greedy": written(model, tokenizer, english),
             "beam": written(model, tokenizer, english, lambda *source: beam_search(*source, MOST)[0])}
    split_up = {"greedy_words": in_words(found["greedy"]), "phrases_words": phrases(known, english)}
    rows, lengths = [], [len(split_words(text)) for text in english]
    for low, high in [*GROUPS, (1, 100)]:
        some = [i for i, length in enumerate(lengths) if low <= length <= high]
        right = [french[i] for i in some]
        if not some:
            continue
        row = {"from": low, "to": high, "sentences": len(some)}
        for name, texts in found.items():
            row[name] = sacrebleu.corpus_bleu([texts[i] for i in some], [right]).score
        for name, texts in split_up.items():
            row[name] = sacrebleu.corpus_bleu([texts[i] for i in some], [in_words(right)], force=True).score
        rows.append({name: f"{value:.4g}" for name, value in row.items()})
    decoding.write(folder / "translator.csv", rows)
    decoding.write(folder / "translator_search.csv", search_rows(model, tokenizer, test[:SEARCHED]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.make_weights.translator", description=__doc__)
    parser.add_argument("--data", help="fra.txt (default: fra-eng in the cache folder)")
    parser.add_argument("--out", type=pathlib.Path, default=SHIPPED, help="the folder to write to (default: the one that ships)")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("."), help="the folder of the checkpoint")
    parser.add_argument("--measure", action="store_true", help="do not train: measure the weights that ship")
    given = parser.parse_args()
    if not given.measure:
        make(given.data, given.out, given.work)
    measure(given.data, given.out)
