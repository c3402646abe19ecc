"""What every picture of the course has in common: a figure that shows itself, and says what is to be seen."""
import base64
import io

import numpy as np
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

DOTS_PER_INCH, CSS_PIXELS_PER_INCH = 144, 96


class Picture(Figure):
    """A figure of `width` x `height` inches with `alt`, a text for those who cannot see it.

    pyplot does not know it: there is nothing to close, and it is shown once.
    """

    def __init__(self, width, height, alt=""):
        super().__init__(figsize=(width, height), dpi=DOTS_PER_INCH, layout="constrained")
        FigureCanvasAgg(self)
        self.alt = alt

    def _repr_mimebundle_(self, include=None, exclude=None):
        self.canvas.draw()
        return self.as_shown()

    def as_shown(self):
        """The pixels that are on the canvas now, and in words what is to be seen, for a notebook."""
        width, height = self.get_size_inches() * CSS_PIXELS_PER_INCH
        data = {"image/png": base64.b64encode(png(self.canvas, small=True)).decode(), "text/plain": f"Picture: {self.alt}"}
        return data, {"image/png": {"alt": self.alt, "width": round(width), "height": round(height)}}


def png(canvas, small=False):
    """The pixels of an Agg canvas as PNG bytes: quickly, or small enough to keep in a notebook."""
    pixels = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    buffer = io.BytesIO()
    if small:
        pixels.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(buffer, "png", optimize=True)
    else:
        pixels.save(buffer, "png", compress_level=1)
    return buffer.getvalue()


def panels(width, height, rows=1, columns=1, alt="", **options):
    """An empty picture and its axes: one, or an array of rows x columns."""
    picture = Picture(width, height, alt)
    return picture, picture.subplots(rows, columns, **options)


def as_numpy(values):
    """A tensor, on whatever device and of whatever dtype, or anything that numpy takes, as an array."""
    if isinstance(values, torch.Tensor):
        values = values.detach().cpu()
        values = values if values.dtype == torch.bool else values.float()
    return np.asarray(values)


def broadcast_mask(mask, shape):
    """The mask as an array of `shape`, True = may look; raise unless it is boolean and fits."""
    mask = as_numpy(mask)
    if mask.dtype != bool:
        raise TypeError(f"the mask is {mask.dtype}: it needs to be boolean, True where a query may look")
    try:
        return np.broadcast_to(mask, shape)
    except ValueError:
        raise ValueError(f"the mask has shape {list(mask.shape)}: it needs to broadcast to the map, {list(shape)}") from None


def beside(live, still, text):
    """Put a PNG and a stable text beside the live view, for pages without a kernel and for the strict check."""
    data, metadata = live if isinstance(live, tuple) else (live, {})
    return data | still[0] | {"text/plain": text}, metadata | still[1]
