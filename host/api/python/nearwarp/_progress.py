"""Shows the progress of work, in notebooks and on terminals."""

import contextlib
import logging
import sys
import time
import typing as t

from ._core import Progress, SweepProgress

# Functions of a Progress; of what is done, how much and of how much; of a SweepProgress. False stops; True is a bar.
OfRun = t.Union[bool, t.Callable[[Progress], t.Optional[bool]], None]
OfActivity = t.Union[bool, t.Callable[[str, int, int], t.Optional[bool]], None]
OfSweep = t.Union[bool, t.Callable[[SweepProgress], t.Optional[bool]], None]
Tell = t.Optional[t.Callable[[str], t.Any]]


def teller(tell):
    """The function that gets messages: `tell`, or else a method of the module logging's logger nearwarp."""
    return tell or logging.getLogger("nearwarp").warning


class Bar:
    """A bar in a notebook's cell; elsewhere a line on standard error, if that is a terminal."""

    things = "warp-instructions"

    def __init__(self):
        self._begin, self._first, self._shown, self._display, self._total = time.monotonic(), None, "", None, 0

    def measure(self, progress):
        """The share that is done, and the number of things."""
        total = max(progress.warp_instructions_total, 1)
        return progress.warp_instructions / total, total

    def __call__(self, progress):
        share, self._total = self.measure(progress)
        if self._first is None:
            self._first = share  # the work may resume from a checkpoint
        seconds, done = time.monotonic() - self._begin, share - self._first
        text = f"{share:4.0%} of {self._total} {self.things}"
        if done > 0.05:
            text += f", {seconds * (1 - share) / done:.0f} s left"
        self._show(share, text)

    def _show(self, share, text):
        if "ipykernel" in sys.modules:
            from IPython.display import HTML, display  # type: ignore[import]
            if self._display is None:
                self._display = display(HTML(""), display_id=True)
            self._display.update(HTML(f"<progress value={share:.3f} max=1></progress> {text}"))
        elif sys.stderr.isatty():
            print("\r" + text.ljust(len(self._shown)), end="", file=sys.stderr, flush=True)
            self._shown = text

    def close(self, done):
        if done:
            self._show(1, f"100% of {self._total} {self.things} in {time.monotonic() - self._begin:.0f} s")
        if self._shown:
            print(file=sys.stderr)


class PointsBar(Bar):
    """A bar for sweeps, by the costs of points."""

    things = "points"

    def measure(self, progress):
        return progress.cost_done / progress.cost if progress.cost else 0, progress.points


class ActivityBar(Bar):
    """A bar for work without simulated time, which may consist of several activities in sequence."""

    def __call__(self, what, done, total):
        self.things, self._total = what, total
        self._show(done / total if total else 0, f"{what}: {done / total:.0%}" if total else what)

    def close(self, done):
        if done:
            self._show(1, f"{self.things}: 100% in {time.monotonic() - self._begin:.0f} s")
        if self._shown:
            print(file=sys.stderr)


class Bars:
    """Bars for work that goes on in steps: one for each outermost call that continues it."""

    def __init__(self):
        self._bar = None

    def __call__(self, progress):
        if self._bar is not None:
            self._bar(progress)

    @contextlib.contextmanager
    def shown(self, ended):
        """Shows a bar, unless an outer call does; ended() says whether the work is complete."""
        if self._bar is not None:
            yield
            return
        self._bar = bar = Bar()
        try:
            yield
        finally:
            self._bar = None
            bar.close(bar._total != 0 and ended())


def function_of(progress):
    """The function that the core calls for `progress`, which is not True; None if there is none."""
    if progress is not None and progress is not False and not callable(progress):
        raise TypeError(f"progress={progress!r} - it is a function, which returns False to stop, or True for a bar")
    return progress or None


@contextlib.contextmanager
def shown(progress, kind=Bar):
    """A context in which the core calls the function `progress` or, if it is True, a bar of that kind."""
    if progress is not True:
        yield function_of(progress)
        return
    bar, done = kind(), False
    try:
        yield bar
        done = bar._total != 0
    finally:
        bar.close(done)
