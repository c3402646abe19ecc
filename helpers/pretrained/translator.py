"""The translator that ships for lesson 9: English to French in subwords; `python -m tools.make_weights.translator` trains it."""
from tokenizers import Tokenizer, normalizers

from helpers.pretrained.weights import SHIPPED, load_weights, read_record
from helpers.transformer import Transformer


def load_translator() -> tuple[Transformer, Tokenizer]:
    """(model, tokenizer), from the files that ship.

    The tokenizer makes any English text small and splits it into subwords; the ids of `<pad>`, `<unk>`, `<bos>` and `<eos>` are
    those of a `Vocab`. The French that the model writes has its capitals.
    """
    tokenizer, record = Tokenizer.from_file(str(SHIPPED / "translator.json")), read_record("translator")
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace("’", "'"), normalizers.Lowercase()])
    model = Transformer(record["vocab_size"], record["vocab_size"], **record["sizes"])
    return load_weights(model, "translator").eval(), tokenizer
