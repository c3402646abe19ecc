"""How well small models answer couplets, the course's and those that people wrote: bits per character of held-out answers.

The published corpus has to be in the cache folder (`load_couplets("published")` says where): `make bench`.
"""
from helpers.data.couplets import load_couplets
from tools.make_weights.couplets import ANSWER, BOTH, CONTEXTS, measured


def bits(corpus, model, seeds=("",)):
    return [float(measured(corpus, model, seed)["bits"]) for seed in seeds]


def best_count(corpus):
    return [min(bits(corpus, name)[0] for name in CONTEXTS)]


def test_couplets_of_the_course(one_thread, figure):
    ours, both = bits("made", ANSWER, range(3)), bits("made", BOTH, range(3))
    counted = best_count("made")
    figure("couplets of the course, held out: bits a character", ours, {"loss on both lines": both, "best of counting": counted},
           how="1 thread, 3 seeds, 800 steps of 64")
    assert max(ours) < min(both + counted)


def test_published_couplets(read_or_skip, one_thread, figure):
    read_or_skip(load_couplets, "published")
    ours, counted = bits("published", ANSWER, [0]), best_count("published")
    figure("couplets that people wrote, held out: bits a character", ours, {"best of counting": counted},
           how="1 thread, 1 seed, 2,500 steps of 64")
    assert ours[0] < counted[0] - 1
