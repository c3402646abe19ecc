"""Lesson 4's table, helpers/pretrained/bahdanau.csv: one vector against attention, BLEU by length, over three seeds.

Two hours of one core; the sentences that people wrote are measured where fra-eng/fra.txt is in the cache folder.
"""
import csv
import itertools
import math
import random
from time import process_time

import pytest
import sacrebleu
import torch
from torch import nn

import phrases
from helpers.attention import AdditiveAttention
from helpers.data.translation import load_translation
from helpers.generation import bleu, greedy, translate
from helpers.hooks import record
from helpers.pretrained.weights import SHIPPED
from helpers.recurrent import Seq2Seq
from helpers.text import BOS, Vocab, batches, pad, split_words
from helpers.training import one_cycle, sequence_loss, train

TABLE = SHIPPED / "bahdanau.csv"
FIELDS = ["corpus", "model", "steps", "seed", "bleu_1", "bleu_2", "bleu_3", "bleu_4", "perplexity", "first_word_looks_at_when",
          "quand_by_outputs", "quand_by_state", "article_by_outputs", "article_by_state"]
TWINS = {"man": "woman", "woman": "man", "boy": "girl", "girl": "boy"}
LENGTHS = [(2, 6), (7, 11), (12, 16), (17, 25)]
GROUPS = {"grammar": LENGTHS, "second clause first": LENGTHS, "fra-eng": [(2, 5), (6, 8), (9, 11), (12, 25)]}
MODELS = {
    "GRU, one vector": {"attention": False},
    "GRU, attention": {},
    "LSTM, one vector": {"kind": "lstm", "attention": False},
    "LSTM, attention": {"kind": "lstm"},
    "GRU, attention, one direction": {"bidirectional": False},
    "GRU, one vector, not clipped": {"attention": False},
    "GRU, attention, not clipped": {},
    "GRU, one vector of 256": {"attention": False, "d_model": 256},
    "GRU, one vector of 256, slower": {"attention": False, "d_model": 256},
    "GRU, one vector, slower": {"attention": False},
    "GRU, mean of outputs": {"attention": False},
    "GRU, counting along": {"attention": False},
    "GRU, counting from the clause": {"attention": False},
    "GRU, counting back": {"attention": False},
    "GRU, first state alone": {"attention": False},
    "GRU, attention, word vectors": {},
    "GRU, counting along, word vectors": {"attention": False},
    "GRU, window": {"attention": False},
    "GRU, clock as query": {"attention": False, "parts": "noo"},
    "GRU, attention, values word vectors": {"attention": False, "parts": "sow"},
    "GRU, attention, keys word vectors": {"attention": False, "parts": "swo"},
    "GRU, attention, words and positions": {"attention": False, "parts": "spp"},
    "GRU, attention, faster": {},
    "LSTM, attention, faster": {"kind": "lstm"},
}
RATES = {"GRU, one vector of 256, slower": 3e-3, "GRU, one vector, slower": 3e-3, "GRU, attention, faster": 16e-3,
         "LSTM, attention, faster": 16e-3}                                                                   # else 8e-3
RUNS = [(name, 300) for name in MODELS if not name.endswith(("slower", "from the clause"))]
RUNS += [(name, 1500) for name in ("GRU, one vector", "LSTM, one vector", "GRU, attention", "GRU, one vector of 256",
                                   "GRU, one vector of 256, slower", "GRU, one vector, slower", "GRU, counting along",
                                   "GRU, window")]
REORDERED = [("GRU, one vector", 300), ("GRU, attention", 300), ("GRU, counting along", 300), ("GRU, attention", 1500),
             ("GRU, counting along", 1500), ("GRU, counting from the clause", 300), ("GRU, counting from the clause", 1500)]


class MeanContext(Seq2Seq):
    """The context is the mean of the encoder's outputs, the same at each step: every word counts, and nothing is chosen."""

    def start(self, src, lengths):
        state = super().start(src, lengths)
        state.context = state.mask.float() @ state.memory / lengths[:, None, None]          # [B, 1, d_model]
        return state


class PositionContext(Seq2Seq):
    """The context of step t is the encoder's output at word t, or at the last word: it moves on, and no query moves it."""

    def start(self, src, lengths):
        state = super().start(src, lengths)
        state.steps, state.last = 0, lengths - 1
        return state

    def place(self, state):
        """The word that each step looks at, [B]."""
        return state.last.clamp(max=state.steps)

    def step(self, tgt, state):
        logits = []
        for word in tgt.split(1, dim=1):
            state.context = self.look(state)                                                 # [B, 1, d_model]
            logits.append(super().step(word, state))
            state.steps += 1
        return torch.cat(logits, 1)

    def look(self, state):
        return state.memory[torch.arange(len(state.memory)), self.place(state)].unsqueeze(1)


class BackwardsContext(PositionContext):
    """The same from the last word to the first: the context moves on, too, to the wrong words."""

    def place(self, state):
        return (state.last - state.steps).clamp(min=0)


class ClauseContext(PositionContext):
    """Counts from the first clause word, wraps round to the words before it, and looks at the full stop last: a fixed rule.

    It is the order of `second_clause_first`, in English. clause_words: the ids of `and`, `but`, `because` and the comma.
    """

    def start(self, src, lengths):
        state = super().start(src, lengths)
        state.first = torch.isin(src, self.clause_words).int().argmax(1)                     # [B], 0 if there is none
        return state

    def place(self, state):
        turned = (state.first + state.steps) % state.last.clamp(min=1)
        return torch.where(state.steps < state.last, turned, state.last)


class NoContext(Seq2Seq):
    """The source gives the decoder its first state, and nothing after that."""

    def start(self, src, lengths):
        state = super().start(src, lengths)
        state.context = torch.zeros_like(state.context)                                      # [B, 1, d_model]
        return state


class WordVectors(Seq2Seq):
    """In place of the encoder's outputs stand the vectors of the words, which have not read their neighbours."""

    def start(self, src, lengths):
        state = super().start(src, lengths)
        state.memory = self.encoder.embed(src)                                               # [B, T_src, d_model]
        return state


class PositionOfWords(PositionContext, WordVectors):
    """The context of step t is the vector of word t."""


class WindowContext(PositionContext):
    """The context of step t is a learned linear map of the outputs at the words t - 3 to t + 1: a rule, with some room."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.mix = nn.Linear(5 * 128, 128)

    def look(self, state):
        around = state.steps + torch.arange(-3, 2)
        places = torch.minimum(around.clamp(min=0), state.last.unsqueeze(1))                 # [B, 5]
        outputs = state.memory[torch.arange(len(places)).unsqueeze(1), places]               # [B, 5, d_model]
        return self.mix((outputs * (around >= 0).unsqueeze(1)).flatten(1)).unsqueeze(1)


class ChosenContext(PositionContext):
    """Attention with a query, keys and values of choice, a letter of `parts` each.

    s: the state, n: a learned vector of the step's number; o: outputs, w: word vectors, p: these plus learned ones of positions.
    """

    def __init__(self, *args, parts, **kwargs):
        super().__init__(*args, **kwargs)
        self.parts, self.attention, self.numbers = parts, AdditiveAttention(128, 128, 128), nn.Embedding(64, 128)

    def start(self, src, lengths):
        state, words = super().start(src, lengths), self.encoder.embed(src)
        state.parts = {"o": state.memory, "w": words, "p": words + self.numbers.weight[:src.shape[1]]}
        return state

    def look(self, state):
        state.parts |= {"s": state.top(), "n": self.numbers.weight[state.steps].expand_as(state.top())}
        return self.attention(*(state.parts[part] for part in self.parts), state.mask)


CONTEXTS = {"GRU, window": WindowContext, **{name: ChosenContext for name in MODELS if "parts" in MODELS[name]},
            "GRU, attention, word vectors": WordVectors, "GRU, counting along, word vectors": PositionOfWords,
            "GRU, mean of outputs": MeanContext, "GRU, counting along": PositionContext, "GRU, counting back": BackwardsContext,
            "GRU, counting from the clause": ClauseContext, "GRU, first state alone": NoContext}


def second_clause_first(french):
    """The French words with all that follows the first `et`, `mais`, `parce` or comma in front, that word included."""
    split = next((i for i, word in enumerate(french) if word in ("et", "mais", "parce", ",")), 0)
    return french[split:-1] + french[:split] + french[-1:]


def keep(**found):
    """Put one row into the table, in place of an earlier one of the same training."""
    with TABLE.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    row = {field: f"{value:.4g}" if isinstance(value := found.get(field, ""), float) else str(value) for field in FIELDS}
    rows = [other for other in rows if any(other[field] != row[field] for field in FIELDS[:4])] + [row]
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows, key=lambda row: (row["corpus"], row["model"], int(row["steps"]), int(row["seed"]))))


class Corpus:
    """known: pairs of token lists. asked: (English, its translations) of sentences that are not among them."""

    def __init__(self, name, known, asked, min_count):
        self.name, self.known, self.asked = name, known, asked
        self.en, self.fr = (Vocab(side, min_count) for side in zip(*known))

    def bleu(self, write):
        """By length of the English sentence: {"bleu_1": ...}; write: from English sentences to French ones."""
        found = {}
        for number, (low, high) in enumerate(GROUPS[self.name], 1):
            group = [(english, french) for english, french in self.asked if low <= len(english) <= high]
            english, french = zip(*group)
            references = list(itertools.zip_longest(*([" ".join(one) for one in some] for some in french)))
            written = [" ".join(words) for words in write(list(english))]
            found[f"bleu_{number}"] = sacrebleu.corpus_bleu(written, references, force=True).score
        return found

    def trained(self, model, steps, seed=0, clip=1.0, batch_size=128, rate=8e-3):
        data = [(self.en.encode(e), self.fr.encode(f)) for e, f in self.known]
        train(model, batches(data, batch_size, steps, seed), sequence_loss, rate, one_cycle(steps), clip=clip)
        return model

    def first_words(self, model, outputs_of, state_of):
        """The ids of the first words that are written, if the decoder gets outputs and final state of such English sentences."""
        state, other = (model.start(*pad([self.en.encode(words) for words in some])) for some in (outputs_of, state_of))
        state.hidden = other.hidden
        return greedy(model, state, torch.full((len(outputs_of), 1), BOS), max_len=1)

    def followed(self, model):
        """How often the article is that of the sentence whose outputs, and of that whose state the decoder gets, of two twins."""
        people = [english for english, _ in self.asked if english[0] == "the" and set(english[:4]) & TWINS.keys()]
        others = [[TWINS.get(word, word) for word in words[:4]] + words[4:] for words in people]
        in_conflict = self.first_words(model, others, people)
        return {f"article_by_{part}": (in_conflict == self.first_words(model, some, some)).float().mean().item()
                for part, some in (("outputs", others), ("state", people))}

    @torch.no_grad()
    def measured(self, model):
        """BLEU by length and perplexity; of an attention, what it does in sentences that begin with `when`.

        How often the first row's largest weight is on `when`; and of an encoder that reads in one direction, how often `quand` is
        written if only the outputs, or only the state, are those of the sentence, and the rest of its twin that begins with `if`.
        Of an attention also what `followed` says.
        """
        def write(sentences):
            ids = translate(model, *pad([self.en.encode(words) for words in sentences]), max_len=40)
            return [self.fr.decode(row) for row in ids]

        pairs = [(self.en.encode(english), self.fr.encode(french[0])) for english, french in self.asked]
        losses = [(sequence_loss(model, *batch).item(), (batch[2][:, 1:] != 0).sum().item())
                  for batch in batches(pairs, 100, math.ceil(len(pairs) / 100))]
        loss = sum(loss * words for loss, words in losses) / sum(words for _, words in losses)
        found = self.bleu(write) | {"perplexity": math.exp(loss)}
        when = [english for english, _ in self.asked if english[0] == "when"]
        twins = [["if", *rest] for _, *rest in when]
        if model.decoder.attention and self.name == "grammar":
            with record(model) as seen:
                write(when)
            first = seen["decoder.attention.attention_weights"][0][:, 0]              # [B, T_src]
            found["first_word_looks_at_when"] = (first.argmax(-1) == 0).float().mean().item()
            found |= self.followed(model)
        if not model.encoder.rnn.bidirectional:
            for part, sentences in (("outputs", (when, twins)), ("state", (twins, when))):
                first = self.first_words(model, *sentences)
                found[f"quand_by_{part}"] = (first == self.fr.index["quand"]).float().mean().item()
        return found


@pytest.fixture(scope="module")
def grammar():
    """The split of lesson 4."""
    pairs = [tuple(map(split_words, pair)) for pair in load_translation()]
    order = torch.randperm(len(pairs), generator=torch.Generator().manual_seed(0)).tolist()
    words = [pairs[i] for i in order]
    return Corpus("grammar", words[1000:], [(english, [french]) for english, french in words[:1000]], 2)


@pytest.fixture(scope="module")
def reordered(grammar):
    """The same with another order of the French clauses."""
    known = [(english, second_clause_first(french)) for english, french in grammar.known]
    asked = [(english, [second_clause_first(one) for one in french]) for english, french in grammar.asked]
    return Corpus("second clause first", known, asked, 2)


@pytest.fixture(scope="module")
def written_by_people(read_or_skip):
    """60,000 pairs of fra-eng, and 1,000 English sentences that are not among them, with all their translations."""
    answers = {}
    for english, french in read_or_skip(load_translation, "fra-eng"):
        answers.setdefault(tuple(split_words(english)), []).append(split_words(french))
    sentences = [(list(english), french) for english, french in answers.items() if 2 <= len(english) <= 25]
    random.Random(0).shuffle(sentences)
    known = [(english, one) for english, french in sentences[1000:] for one in french if len(one) <= 30]
    return Corpus("fra-eng", known[:60_000], sentences[:1000], 10)


def note(figure, corpus, name, steps, rows, how=None):
    (low, high), *_, (longer, longest) = GROUPS[corpus.name]
    figure(f"{corpus.name}, {name}, {steps:,} steps: BLEU of sentences of {low} to {high} words", [row["bleu_1"] for row in rows],
           {f"of {longer} to {longest}": [row["bleu_4"] for row in rows]}, how=how)


def run(corpus, figure, name, steps, seeds=3):
    rows, start = [], process_time()
    for seed in range(seeds):
        torch.manual_seed(seed)
        model = CONTEXTS.get(name, Seq2Seq)(len(corpus.en), len(corpus.fr), **{"d_model": 128} | MODELS[name])
        model.clause_words = torch.tensor(corpus.en.encode(["and", "but", "because", ","]))
        corpus.trained(model, steps, seed, clip=None if "not clipped" in name else 1.0, rate=RATES.get(name, 8e-3))
        rows.append(corpus.measured(model))
        keep(corpus=corpus.name, model=name, steps=steps, seed=seed, **rows[-1])
    note(figure, corpus, name, steps, rows, how=f"1 thread, {seeds} seeds, {process_time() - start:.0f} s")


@pytest.mark.parametrize(("name", "steps"), RUNS)
def test_one_vector_and_attention(grammar, figure, one_thread, name, steps):
    run(grammar, figure, name, steps)


@pytest.mark.parametrize(("name", "steps"), REORDERED)
def test_another_order_of_clauses(reordered, figure, one_thread, name, steps):
    run(reordered, figure, name, steps)


def test_counting(grammar, figure, one_thread):
    by_phrases = phrases.translator(grammar.known, grammar.en, grammar.fr)
    answers = [" ".join(by_phrases(english)) + "\n" for english, _ in grammar.asked]
    (SHIPPED / "phrases.txt").write_text("".join(answers), encoding="utf-8", newline="\n")
    for name, write in (("nearest sentence", lambda asked: phrases.nearest(asked, grammar.known, grammar.en)),
                        ("table of phrases", lambda asked: list(map(by_phrases, asked)))):
        row = grammar.bleu(write)
        keep(corpus="grammar", model=name, steps=0, seed=0, **row)
        note(figure, grammar, name, 0, [row])


@pytest.mark.parametrize("name", ["GRU, one vector", "GRU, attention"])
def test_sentences_that_people_wrote(written_by_people, figure, one_thread, name, steps=1000, seeds=3):
    rows, corpus, start = [], written_by_people, process_time()
    for seed in range(seeds):
        torch.manual_seed(seed)
        model = Seq2Seq(len(corpus.en), len(corpus.fr), d_model=128, dropout=0.2, **MODELS[name])
        corpus.trained(model, steps, seed, batch_size=64)
        rows.append(corpus.measured(model))
        keep(corpus="fra-eng", model=name, steps=steps, seed=seed, **rows[-1])
    note(figure, corpus, name, steps, rows, how=f"1 thread, {seeds} seeds, {process_time() - start:.0f} s")


def test_the_recipe_of_a_textbook(read_or_skip, figure, one_thread, steps=2500, seeds=3):
    """Dive into Deep Learning, the chapter on Bahdanau attention, first edition: 600 pairs, 250 epochs of batches of 64.

    Of the four sentences that it translates, three are among the 600.
    """
    pairs = [tuple(map(split_words, pair)) for pair in read_or_skip(load_translation, "fra-eng")[:800]]
    en, fr = (Vocab(side) for side in zip(*pairs[:600]))
    start, asked = process_time(), [split_words(text) for text in ("Go.", "I lost.", "He's calm.", "I'm home.")]
    assert [words in [e for e, _ in pairs[:600]] for words in asked] == [True, True, False, True]
    data = [(en.encode(e), fr.encode(f)) for e, f in pairs[:600]]
    parts = {"its 600 pairs": pairs[:600], "the 200 that follow": pairs[600:]}
    found = {part: [] for part in parts}
    for seed in range(seeds):
        torch.manual_seed(seed)
        model = Seq2Seq(len(en), len(fr), d_model=32, num_layers=2, dropout=0.1, bidirectional=False)
        train(model, batches(data, 64, steps, seed), sequence_loss, 5e-3, clip=1.0)
        answers = translate(model, *pad([en.encode(words) for words in asked]), max_len=10)
        print(*(" ".join(fr.decode(ids)) for ids in answers), sep=" | ")
        for part, some in parts.items():
            found[part].append(bleu(model, some, en, fr))
            keep(corpus=f"textbook, {part}", model="GRU, attention, one direction", steps=steps, seed=seed, bleu_1=found[part][-1])
    figure("recipe of Dive into Deep Learning, 2 layers of 32: BLEU of the 600 pairs trained on", found["its 600 pairs"],
           {"of the 200 that follow": found["the 200 that follow"]}, how=f"1 thread, {seeds} seeds, {process_time() - start:.0f} s")
