"""Exercises of lesson 04: the context vectors, and the states of a decoder that looks back."""
import torch

from helpers.exercises.exercise import Exercise, numbers


def slow_decoder_states(x, h, outputs, W, U):
    states = torch.zeros(*x.shape[:2], h.shape[1])
    for b in range(len(x)):
        state = h[b]
        for t in range(x.shape[1]):
            scores = torch.stack([state @ output for output in outputs[b]])           # the query is the state before
            context = sum(weight * output for weight, output in zip(scores.softmax(0), outputs[b]))
            state = states[b, t] = torch.tanh(W @ torch.cat([x[b, t], context]) + U @ state)
    return states


def slow_context_vectors(scores, outputs, lengths):
    contexts = torch.zeros(outputs.shape[0], outputs.shape[2])
    for b in range(len(outputs)):
        real = range(int(lengths[b]))
        largest = max(scores[b, t] for t in real)                      # so that no exp grows too large
        total = sum(torch.exp(scores[b, t] - largest) for t in real)
        for t in real:
            contexts[b] += torch.exp(scores[b, t] - largest) / total * outputs[b, t]
    return contexts


def real_words(scores, lengths):
    return torch.arange(scores.shape[1]) < lengths.unsqueeze(1)        # [B, T]


def averaged(weights, outputs):
    return (weights.unsqueeze(1) @ outputs).squeeze(1)                 # [B, d]


def without_largest(scores, outputs, lengths):
    """The contexts as exp gives them, with no largest score taken off first."""
    weights = scores.exp() * real_words(scores, lengths)
    return averaged(weights / weights.sum(-1, keepdim=True), outputs)


def hidden_by(fill):
    """The contexts if `fill` is written into the scores of padding."""
    return lambda scores, outputs, lengths: averaged(
        scores.masked_fill(~real_words(scores, lengths), fill).softmax(-1), outputs)


def looked_at(query, outputs, weigh=lambda scores: scores.softmax(-1)):
    """The context of queries [B, d]: the outputs [B, T, d], weighted by their dot products with the query."""
    return averaged(weigh((outputs @ query.unsqueeze(-1)).squeeze(-1)), outputs)


def cell(word, context, state, W, U):
    return torch.tanh(torch.cat([word, context], -1) @ W.T + state @ U.T)                # [B, d]


def decoded(context=lambda word, state, outputs, W, U: looked_at(state, outputs), step=cell, then=lambda state, context: state,
            handed_on=lambda first, state: state):
    """The decoder of these parts; then: what is returned of each step. handed_on: the state with which the next one begins."""
    def states(x, h, outputs, W, U):
        found, first = [], h
        for word in x.unbind(1):
            seen = context(word, h, outputs, W, U)                                       # [B, d]
            state = step(word, seen, h, W, U)
            found.append(then(state, seen))
            h = handed_on(first, state)
        return torch.stack(found, 1)
    return states


def weighed_by(weigh):
    return decoded(lambda word, state, outputs, W, U: looked_at(state, outputs, weigh))


def one_context(x, h, outputs, W, U):
    """The states if the decoder looks once, before the first word."""
    return decoded(lambda *_: looked_at(h, outputs))(x, h, outputs, W, U)


def cell_first(first):
    """The states if the cell runs before the look, so that each step reads the context of the step before."""
    def states(x, h, outputs, W, U):
        found, context = [], first(h)
        for word in x.unbind(1):
            h, context = cell(word, context, h, W, U), looked_at(h, outputs)
            found.append(h)
        return torch.stack(found, 1)
    return states


def step_first(first):
    """The states if each step ends with the look, by its new state: only the first context, that of this function, differs."""
    def states(x, h, outputs, W, U):
        found, context = [], first(h, outputs)
        for word in x.unbind(1):
            h = cell(word, context, h, W, U)
            context = looked_at(h, outputs)
            found.append(h)
        return torch.stack(found, 1)
    return states


def by_the_new_state(context):
    """The states if the query is a state that has read the word already, its context being that of this function."""
    return decoded(lambda word, state, outputs, W, U: looked_at(cell(word, context(state, outputs), state, W, U), outputs))


EXERCISES = {
    "context_vectors": Exercise(
        slow_context_vectors,
        [(torch.tensor([[0.0, 0.0, 5.0]]), torch.tensor([[[2.0], [4.0], [9.0]]]), torch.tensor([2])),
         (torch.tensor([[200.0, 199.0, 0.0], [-300.0, -300.0, 50.0]]), numbers(2, 3, 2, seed=18), torch.tensor([3, 2])),
         (numbers(2, 4, seed=14), numbers(2, 4, 3, seed=15), torch.tensor([1, 3])),
         (numbers(3, 5, seed=16), numbers(3, 5, 2, seed=17), torch.tensor([5, 2, 3]))],
        {
            "padding takes part; hide its scores before the softmax":
                lambda scores, outputs, lengths: averaged(scores.softmax(-1), outputs),
            "the weights of padding are set to 0 after the softmax, so the others no longer sum to 1; hide the scores before it":
                lambda scores, outputs, lengths: averaged(scores.softmax(-1) * real_words(scores, lengths), outputs),
            "0 is written into the scores of padding, and exp(0) is 1; write -inf": hidden_by(0.0),
            "the mask is the wrong way round: the real words are hidden":
                lambda scores, outputs, lengths: averaged(
                    scores.masked_fill(real_words(scores, lengths), -torch.inf).softmax(-1), outputs),
            "the mask is the wrong way round, and reaches one position too far; hide the positions from the length on":
                lambda scores, outputs, lengths: averaged(
                    scores.masked_fill(real_words(scores, lengths + 1), -torch.inf).softmax(-1), outputs),
            "exp of a large score is infinite, and of a very small one 0; take the largest real score off first, as softmax does":
                without_largest,
            "the weights are exp of the scores; divide them by their sum over the real words":
                lambda scores, outputs, lengths: averaged(scores.exp() * real_words(scores, lengths), outputs),
            "this is the mean of all outputs, padding included; weigh the real ones by the softmax of their scores":
                lambda scores, outputs, lengths: outputs.mean(1),
            "every real word counts the same; weigh them by the softmax of their scores":
                lambda scores, outputs, lengths: averaged(real_words(scores, lengths) / lengths.unsqueeze(1), outputs),
            "the weighted outputs are averaged; add them up, because the weights already sum to 1":
                lambda scores, outputs, lengths: slow_context_vectors(scores, outputs, lengths) / scores.shape[1],
            "the sum is divided by the length; add up only, because the weights already sum to 1":
                lambda scores, outputs, lengths: slow_context_vectors(scores, outputs, lengths) / lengths.unsqueeze(1),
            "the best word alone is taken; the softmax gives every real word a weight":
                lambda scores, outputs, lengths: outputs[
                    torch.arange(len(outputs)), scores.masked_fill(~real_words(scores, lengths), -torch.inf).argmax(-1)],
            "-10 leaves padding a small weight; write -inf": hidden_by(-10.0),
            "the last real word is hidden, too; a sentence of length 3 has the positions 0 to 2":
                lambda scores, outputs, lengths: hidden_by(-torch.inf)(scores, outputs, lengths - 1),
            "the first word of the padding is still there; a sentence of length 3 has the positions 0 to 2":
                lambda scores, outputs, lengths: hidden_by(-torch.inf)(scores, outputs, lengths + 1),
            "the scores themselves are the weights; take their softmax first":
                lambda scores, outputs, lengths: averaged(scores * real_words(scores, lengths), outputs),
            "the softmax runs over the sentences; take it over the words of each":
                lambda scores, outputs, lengths: averaged(
                    scores.masked_fill(~real_words(scores, lengths), -torch.inf).softmax(0).nan_to_num(), outputs),
            "arange [T] and lengths [B] do not fit; compare arange with lengths.unsqueeze(1), [B, 1]":
                lambda scores, outputs, lengths: averaged(
                    scores.masked_fill(~(torch.arange(scores.shape[1]) < lengths), -torch.inf).softmax(-1), outputs),
            "each row ends where the longest one does; each has its own length":
                lambda scores, outputs, lengths: hidden_by(-torch.inf)(scores, outputs, lengths.max().expand(len(lengths))),
        }),
    "decoder_states": Exercise(
        slow_decoder_states,
        [(torch.tensor([[[0.5], [0.1]]]), torch.tensor([[0.2]]), torch.tensor([[[1.0], [-0.5]]]), torch.tensor([[0.3, 1.0]]),
          torch.tensor([[-0.6]])),
         (numbers(2, 3, 2, seed=19), numbers(2, 2, seed=20), numbers(2, 4, 2, seed=21), numbers(2, 4, seed=22) / 2,
          numbers(2, 2, seed=23) / 2),
         (numbers(3, 4, 3, seed=24), numbers(3, 3, seed=25), numbers(3, 2, 3, seed=26), numbers(3, 6, seed=27) / 2,
          numbers(3, 3, seed=28) / 2)],
        {
            "the context is computed once, before the first word; each step looks anew, with the state before it as the query":
                one_context,
            "the cell runs first and reads the context of the step before; look first, and give this context to the cell":
                cell_first(torch.zeros_like),
            "the cell runs first, and the context that it reads at the first word is the state; look before the first word, too":
                cell_first(lambda h: h),
            "the look comes after the step, as in Luong's decoder, so the first context is zeros; look first":
                step_first(lambda h, outputs: torch.zeros_like(h)),
            "the look comes after the step, as in Luong's decoder, so the first context is the mean of the outputs; look first":
                step_first(lambda h, outputs: outputs.mean(1)),
            "the query is a state that has read the word and a first context already; the query is the state before":
                by_the_new_state(lambda state, outputs: looked_at(state, outputs)),
            "the query is a state that has read the word already, without a context; the query is the state before":
                by_the_new_state(lambda state, outputs: torch.zeros_like(state)),
            "the query is the vector of the word; it is the state before":
                decoded(lambda word, state, outputs, W, U: looked_at(word, outputs)),
            "each step begins with the first state; hand the new one on":
                decoded(handed_on=lambda first, state: first),
            "the scores themselves are the weights; take their softmax first": weighed_by(lambda scores: scores),
            "every output counts the same; weigh them by the softmax of their scores":
                weighed_by(lambda scores: torch.full_like(scores, 1 / scores.shape[1])),
            "the best output alone is the context; it is the mean of all, weighted by the softmax":
                weighed_by(lambda scores: torch.eye(scores.shape[1])[scores.argmax(-1)]),
            "the softmax runs over the sentences; take it over the words of each": weighed_by(lambda scores: scores.softmax(0)),
            "every weight is 1, as after a softmax over an axis of size 1; take it over the words":
                weighed_by(torch.ones_like),
            "the scores are divided by a root of d; here they are plain dot products":
                lambda x, h, outputs, W, U: weighed_by(lambda scores: (scores / outputs.shape[2] ** 0.5).softmax(-1))(
                    x, h, outputs, W, U),
            "the context stands before the word; W expects the word first":
                decoded(step=lambda word, context, state, W, U: cell(context, word, state, W, U)),
            "the cell does not read the context; put it beside the word":
                decoded(step=lambda word, context, state, W, U: cell(word, 0 * context, state, W, U)),
            "the cell does not read the word; put it beside the context":
                decoded(step=lambda word, context, state, W, U: cell(0 * word, context, state, W, U)),
            "the state before does not enter the cell; add U times it":
                decoded(step=lambda word, context, state, W, U: cell(word, context, 0 * state, W, U)),
            "U is not transposed: it is [d, d], and the state a row, so multiply by U.T":
                decoded(step=lambda word, context, state, W, U: cell(word, context, state, W, U.T)),
            "W is not transposed: it is [d, 2 * d], and the word with its context a row, so multiply by W.T":
                decoded(step=lambda word, context, state, W, U: torch.cat([word, context], -1) @ W),
            "the cell has a sigmoid; it is a tanh":
                decoded(step=lambda word, context, state, W, U: torch.sigmoid(
                    torch.cat([word, context], -1) @ W.T + state @ U.T)),
            "the first state is zeros; begin with h":
                lambda x, h, outputs, W, U: decoded()(x, torch.zeros_like(h), outputs, W, U),
            "the tanh is missing":
                decoded(step=lambda word, context, state, W, U: torch.cat([word, context], -1) @ W.T + state @ U.T),
            "these are the contexts; return the states that the cell makes from them": decoded(then=lambda state, context: context),
        }),
}
