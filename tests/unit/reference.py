"""The reference implementation of BERT, `transformers`: made from sizes and a seed, never from the network."""
import os

import torch

os.environ["HF_HUB_OFFLINE"] = "1"                          # read when the package is imported
import transformers  # noqa: E402

transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()

# Odd sizes, so that nothing fits by chance: (d_model, heads, d_ff, layers, max_len, vocabulary, segments).
SIZES = [(8, 2, 12, 1, 9, 30, 2), (24, 3, 40, 3, 12, 101, 2), (20, 1, 7, 2, 30, 50, 3), (64, 8, 256, 4, 32, 300, 2)]


def reference(kind, sizes=SIZES[1], std=0.2, seed=0, **options):
    """A model of theirs with every number drawn anew, layer norms and biases too: with std 0.2 the exact GELU matters."""
    d_model, heads, d_ff, layers, max_len, vocab_size, segments = sizes
    config = transformers.BertConfig(
        vocab_size=vocab_size, hidden_size=d_model, num_attention_heads=heads, intermediate_size=d_ff, num_hidden_layers=layers,
        max_position_embeddings=max_len, type_vocab_size=segments, **options)
    model = getattr(transformers, kind)(config).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.normal_(1.0 if name.endswith("LayerNorm.weight") else 0.0, std, generator=generator)
    return model


def batch(sizes, seed=0, B=4):
    """(ids, lengths, segments, mask) of rows of every length up to the longest that fits; what stands in the padding is not 0."""
    *_, max_len, vocab_size, segments = sizes
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(vocab_size, (B, max_len), generator=generator)
    lengths = torch.randint(1, max_len + 1, (B,), generator=generator)
    lengths[0] = max_len
    mask = torch.arange(max_len) < lengths.unsqueeze(1)
    return ids, lengths, torch.randint(segments, ids.shape, generator=generator), mask
