"""`Typed`: the boxes to type into that an explorer may have."""
from collections.abc import Callable

import traitlets


class Typed(traitlets.HasTraits):
    """The traits of an explorer for what is typed; the explorer itself says in `take` how to show it."""

    texts = traitlets.Dict().tag(sync=True)             # of the boxes to type into
    message = traitlets.Unicode().tag(sync=True)        # why what was typed could not be read

    @classmethod
    def of_texts(cls, read: Callable[..., dict], **texts: str) -> "Typed":
        """An explorer with a box for each of `texts`; read(**texts) returns the arguments of an explorer."""
        explorer = cls(**read(**texts))
        explorer.read, explorer.texts = read, texts
        explorer.observe(explorer.typed, "texts")
        return explorer

    def typed(self, change) -> None:
        """Show what was typed. If it cannot be read, say why, and keep what was shown."""
        with self.hold_sync():                          # all at once: new tokens do not fit old numbers
            try:
                self.take(self.read(**self.texts))
                self.message = ""
            except Exception as error:                  # a reader's own function may raise anything
                self.message = str(error) or type(error).__name__
