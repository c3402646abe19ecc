"""`TrainingCurve`: the loss of a training while it runs."""
import time

from IPython.display import display
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from helpers.plots import Picture, beside

LEAST_SECONDS = 0.25        # between two pictures
LARGEST_SHARE = 1 / 40      # of the time may be spent on drawing
LOG_FROM = 10               # times the smallest loss: a larger one makes the axis logarithmic


class TrainingCurve:
    """Watches a training: `train(..., watch=TrainingCurve(steps))`.

    Called after each step, it shows one picture in the notebook and replaces it at most four times a second: the training
    loss, its mean over a fifteenth of all steps (at first over the later half of those taken), the validation loss as dots,
    the speed and the time left. The notebook keeps the last one, also after an interrupt. Outside, it only keeps the losses.
    steps: how many steps the training takes. Raises ValueError for fewer than one.
    """

    def __init__(self, steps: int):
        if steps < 1:
            raise ValueError(f"steps={steps}: a training takes at least one step")
        self.steps, self.window = steps, max(1, steps // 15)
        self.losses, self.means = [], []                        # one for each step
        self.validation: list[tuple[int, float]] = []           # (step, loss)
        self.picture = Picture(6.4, 3.1)
        self.picture.set_layout_engine("none")                  # computing a layout takes as long as drawing
        self.ax = self.picture.add_axes((0.14, 0.27, 0.81, 0.63))     # the legend stands below
        self.line, = self.ax.plot([], [], color="#B0B0B0", linewidth=0.8, label="training, each step")
        self.mean, = self.ax.plot([], [], color="#000000", linewidth=1.8, label=f"training, mean of {self.window} steps")
        self.dots, = self.ax.plot([], [], "o", color="#D55E00", markersize=5, clip_on=False, label="validation")
        self.ax.set(xlabel="step", ylabel="loss", xlim=(0, steps))
        self.ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        self.ax.spines[["top", "right"]].set_visible(False)
        self.ax.grid(alpha=0.25)

    def __call__(self, step: int, loss: float, validation: float | None = None) -> None:
        """Take the loss of a step, and what validation found after it; step: how many were taken, from 1."""
        self.now = time.perf_counter()
        self.losses.append(float(loss))
        self.means.append(sum(recent := self.losses[-min(self.window, (step + 1) // 2):]) / len(recent))
        if validation is not None:
            self.validation.append((step, float(validation)))
        if len(self.losses) == 1:
            self.start = self.now                               # the first step is not timed: it warms up
            self.output = display(self, display_id=True)        # None outside a notebook
            self.next_picture = self.now + LEAST_SECONDS
        elif self.output and (self.now >= self.next_picture or len(self.losses) == self.steps):
            self.output.update(self)
            self.next_picture = self.now + max(LEAST_SECONDS, (time.perf_counter() - self.now) / LARGEST_SHARE)

    def draw(self) -> None:
        """Move the curves to the losses so far."""
        losses = [loss for _, loss in self.validation]
        self.line.set_data(range(1, len(self.losses) + 1), self.losses)
        self.mean.set_data(range(1, len(self.losses) + 1), self.means)
        self.dots.set_data([step for step, _ in self.validation], losses)
        smallest, largest = min(self.losses + losses), max(self.losses + losses)
        self.ax.set_yscale("log" if 0 < LOG_FROM * smallest < largest else "linear")
        if self.ax.get_yscale() == "log":                       # by default a decade gets labels such as 3 x 10^-1: too wide
            self.ax.yaxis.set_major_locator(LogLocator(subs=(1, 3)))
            self.ax.yaxis.set_minor_formatter(NullFormatter())
        self.ax.yaxis.set_major_formatter("{x:g}")
        self.ax.relim()
        self.ax.autoscale_view(scalex=False)
        self.ax.legend(handles=self.ax.lines[:2 + bool(self.validation)], frameon=False, ncols=3, loc=(-0.1, -0.4))
        self.ax.set_title(self.progress(), fontsize=10, loc="left")
        self.picture.alt = (f"The training loss, {self.losses[0]:.3g} after the first step, is "
                            f"{self.losses[-1]:.3g} after {len(self.losses)} of {self.steps} steps.")
        self.picture.canvas.draw()

    def progress(self) -> str:
        """How far the training is, and until it ends how fast it is and how long it still takes: a saved page keeps no time."""
        done, seconds = len(self.losses), self.now - self.start
        text = f"step {done:,} of {self.steps:,}    loss {self.means[-1]:.3g}"
        if not seconds or done >= self.steps:
            return text
        speed = (done - 1) / seconds
        return f"{text}    {speed:,.3g} steps/s    {(self.steps - done) / speed:.0f} s left"

    def __repr__(self):
        return f"TrainingCurve({self.steps} steps)"

    def _repr_mimebundle_(self, include=None, exclude=None):
        if not self.losses:
            return {"text/plain": repr(self)}
        self.draw()
        return beside({}, self.picture.as_shown(small=len(self.losses) == self.steps), repr(self))
