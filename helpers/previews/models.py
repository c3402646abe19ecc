"""Lesson 4 and the lessons from 7 on: models that were trained."""
import torch
from torch.nn.functional import cross_entropy

from helpers import figures
from helpers.answers import SEP, answer_batches, answer_loss, answers, lined_up
from helpers.corpora.couplets import load_couplets
from helpers.decoding import translate
from helpers.fonts import labels
from helpers.loading import load_weights, read_record
from helpers.recording import record
from helpers.recurrent import Seq2Seq
from helpers.text import BOS, Vocab, batches, pad
from helpers.training import one_cycle, sequence_loss, train
from helpers.transformer import Classifier, DecoderOnly, Transformer
from helpers.weights.dates import attention_over, date_model
from helpers.weights.translation import build, corpus


def lesson_04():
    """The alignment of a translator of phrases: adjectives of colour stand behind the French noun."""
    torch.manual_seed(0)
    nouns = {"cat": "chat", "dog": "chien", "coat": "manteau", "hat": "chapeau", "horse": "cheval"}
    sizes, colours = {"small": "petit", "big": "grand", "old": "vieux"}, {"black": "noir", "white": "blanc", "green": "vert"}
    phrases = [(["the", *s, *c, n], ["le", *map(sizes.get, s), nouns[n], *map(colours.get, c)])
               for n in nouns for s in ([], *([w] for w in sizes)) for c in ([], *([w] for w in colours))]
    asked = ["the", "small", "black", "cat"]
    learned = [pair for pair in phrases if pair[0] != asked]
    en, fr = Vocab(e for e, _ in phrases), Vocab(f for _, f in phrases)
    model, steps = Seq2Seq(len(en), len(fr), 32), 200
    data = [(en.encode(e), fr.encode(f)) for e, f in learned]
    train(model, batches(data, 32, steps), sequence_loss, 1e-2, one_cycle(steps))
    src, lengths = pad([en.encode(asked)])
    with record(model) as seen:
        answer = fr.decode(translate(model, src, lengths, 6)[0])
    weights = torch.cat(seen["decoder.attention.attention_weights"], 1)[0, :len(answer)]
    return figures.heatmap(weights, answer, asked, alt=(
        "A map: the French words le, petit, chat, noir look at the, small, cat, black: the last two cross."))


def lesson_07():
    """Where a small Transformer looks when it copies six letters, and when it writes them backwards."""
    torch.manual_seed(0)
    model, lengths, steps = Transformer(16, 16, 32, 1, 64, 1, dropout=0.0), torch.full((64,), 7), 250

    def batch():
        letters, command = torch.randint(6, 16, (64, 6)), torch.randint(4, 6, (64, 1))
        answer = torch.where(command == 4, letters, letters.flip(1))
        return torch.cat([command, letters], 1), lengths, torch.cat([torch.full((64, 1), BOS), answer], 1)

    train(model, (batch() for _ in range(steps)), sequence_loss, 1e-2, one_cycle(steps))
    letters, maps = torch.arange(6, 12), {}
    for command, title, answer in ((4, "copy", letters), (5, "backwards", letters.flip(0))):
        with record(model) as seen:
            model(torch.tensor([[command, *letters]]), lengths[:1], torch.tensor([[BOS, *answer[:-1]]]))
        maps[title] = seen["decoder.layers.0.cross_attn.attention_weights"][0][0, 0, :, 1:]
    return figures.heatmaps(maps, [f"letter {i}" for i in range(1, 7)], list("abcdef"), alt=(
        "Two maps: copying, each letter that is written looks at the same place of the source; backwards, at the mirrored one."))


def lesson_08():
    """Where the date model that ships looks while it writes, mean of its heads."""
    text = "sunday november 30 1997"
    answer, weights = attention_over(date_model(), text)
    picture, ax = figures.panels(8.0, 4.0, alt=(
        "A map: the characters of 1997-11-30, from top to bottom, look at those of sunday november 30 1997. "
        "The year's rows are dark at its digits, the month's at letters of november."))
    names = ("being written", "what was typed")
    image = figures.draw_map(ax, weights.mean(0), list(answer), list(text), numbers=False, names=names)
    picture.colorbar(image, ax=ax, label="weight, mean over heads")
    return picture


def lesson_09():
    """BLEU of the three translators that ship with the course, and where the Transformer among them looks."""
    picture, (left, right) = figures.panels(9.2, 3.9, 1, 2, width_ratios=[4, 5], alt=(
        "Left: the BLEU of three translators, without attention lowest, with Bahdanau's attention and the Transformer high. "
        "Right: a map of cross-attention, in which the words of noun and colour cross."))
    scores = [read_record(f"translation_{kind}")["bleu"] for kind in ("none", "bahdanau", "transformer")]
    left.bar(range(3), [sum(seeds) / len(seeds) for seeds in scores], color="#9FD8C4")
    for i, seeds in enumerate(scores):
        left.plot(torch.linspace(i - 0.1, i + 0.1, len(seeds)), seeds, "ko", markersize=4)
    left.set_xticks(range(3), ["no attention", "Bahdanau", "Transformer"])
    left.set(ylim=(0, 100), ylabel="BLEU, held-out sentences")
    left.spines[["top", "right"]].set_visible(False)
    _, _, en, fr = corpus()
    model = load_weights(build("transformer", en, fr), "translation_transformer").eval()
    english = "the young woman sees the white house .".split()
    src, lengths = pad([en.encode(english)])
    answer = fr.decode(translate(model, src, lengths, 20)[0])
    with record(model) as seen, torch.no_grad():
        model(src, lengths, torch.tensor([[BOS, *fr.encode(answer)[:-1]]]))
    weights = torch.cat([w[0][0] for path, w in seen.items() if "cross" in path]).mean(0)
    image = figures.draw_map(right, weights, answer, english, numbers=False, names=("French, being written", "English"))
    picture.colorbar(image, ax=right, label="weight, mean over heads")
    return picture


def lesson_10():
    """Which word of an invented sentence a small classifier looks at, and what it answers."""
    torch.manual_seed(0)
    plain = "return the a new old small each given of for with all".split()
    telling = {"matplotlib": "axes colour", "networkx": "node edge", "numpy": "array dtype", "python": "thread socket",
               "torch": "tensor gradient"}
    vocab, names = Vocab([["<cls>", *plain, *" ".join(telling.values()).split()]]), list(telling)
    cls, quiet = vocab.index["<cls>"], torch.tensor(vocab.encode(plain))
    loud, lengths = torch.tensor([vocab.encode(words.split()) for words in telling.values()]), torch.full((64,), 9)
    model, steps = Classifier(len(vocab), 5, 32, 1, 64, dropout=0.0), 80

    def batch():
        ids, label = torch.cat([torch.full((64, 1), cls), quiet[torch.randint(12, (64, 8))]], 1), torch.randint(5, (64,))
        ids[range(64), torch.randint(1, 9, (64,))] = loud[label, torch.randint(2, (64,))]
        return ids, lengths, label

    train(model, (batch() for _ in range(steps)), lambda m, ids, n, y: cross_entropy(m(ids, n), y), 1e-2, one_cycle(steps))
    words = "<cls> return the small tensor of each given old".split()
    with record(model) as seen, torch.no_grad():
        probabilities = model(torch.tensor([vocab.encode(words)]), lengths[:1])[0].softmax(-1)
    picture, (left, right) = figures.panels(9.2, 3.4, 1, 2, alt=(
        "Left: the class token looks mostly at one of eight words, tensor. Right: the probability of torch is near 1."))
    figures.draw_bars(left, seen["encoder.layers.0.self_attn.attention_weights"][0][0, 0, 0], words, "where <cls> looks")
    figures.draw_bars(right, probabilities, names, "the answer")
    right.set(xlabel="probability", ylabel="")
    return picture


def lesson_11():
    """Where a small decoder-only model looks when it answers a line of five characters."""
    torch.manual_seed(0)
    couplets = [pair for pair in load_couplets("made") if len(pair[0]) == 5]
    asked, known = couplets[0][0], couplets[1:]
    vocab = Vocab([*first, SEP, *second] for first, second in couplets)
    sep, steps = vocab.index[SEP], 250
    model = DecoderOnly(len(vocab), 64, 1, 128, num_layers=1, dropout=0.0)
    data = [(vocab.encode(first), vocab.encode(second)) for first, second in known]
    train(model, answer_batches(data, 64, steps, sep), answer_loss, 8e-3, one_cycle(steps), clip=1.0)
    first = vocab.encode(asked)
    second, = answers(model, [first], sep)
    with record(model) as seen:
        model(torch.tensor([lined_up(first, second, sep)[0]]))
    weights = seen["decoder.layers.0.self_attn.attention_weights"][0][0, 0, 5:5 + len(second), :6]
    rows = labels([vocab.tokens[i] for i in second], gloss=True)
    picture, ax = figures.panels(6.4, 3.8, alt=(
        "A map: each of five characters being written looks at the one of the first line that it faces, or at its neighbour."))
    image = figures.draw_map(ax, weights, rows, [*labels(asked, gloss=True), SEP])
    picture.colorbar(image, ax=ax, label="weight")
    return picture
