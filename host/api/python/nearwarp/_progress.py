"""How far something is, in notebooks and on terminals."""

import contextlib
import sys
import time


class Bar:
    """How far it is: a bar in a notebook's cell, elsewhere a line on a terminal's standard error."""

    things = "warp-instructions"

    def __init__(self):
        self._begin, self._shown, self._display, self._total = time.monotonic(), "", None, 0
        if "ipykernel" in sys.modules:
            from IPython.display import HTML, display  # type: ignore[import]
            self._html, self._display = HTML, display(HTML(""), display_id=True)

    def measure(self, progress):
        """The share that is done, and how much there is of what."""
        total = max(progress.warp_instructions_total, 1)
        return progress.warp_instructions / total, total

    def __call__(self, progress):
        share, self._total = self.measure(progress)
        seconds = time.monotonic() - self._begin
        text = f"{share:4.0%} of {self._total} {self.things}"
        if share > 0.05:
            text += f", {seconds * (1 - share) / share:.0f} s left"
        self._show(share, text)

    def _show(self, share, text):
        if self._display is not None:
            self._display.update(self._html(f"<progress value={share:.3f} max=1></progress> {text}"))
        elif sys.stderr.isatty():
            print("\r" + text.ljust(len(self._shown)), end="", file=sys.stderr, flush=True)
            self._shown = text

    def close(self, done):
        if done:
            self._show(1, f"100% of {self._total} {self.things} in {time.monotonic() - self._begin:.0f} s")
        if self._shown:
            print(file=sys.stderr)


class PointsBar(Bar):
    """A bar for sweeps, by what points cost."""

    things = "points"

    def measure(self, progress):
        return progress.cost_done / progress.cost if progress.cost else 0, progress.points


class ActivityBar(Bar):
    """A bar for what is looked at without time: several things after each other."""

    def __call__(self, what, done, total):
        self.things, self._total = what, total
        self._show(done / total if total else 0, f"{what}: {done / total:.0%}" if total else what)

    def close(self, done):
        if done:
            self._show(1, f"{self.things}: 100% in {time.monotonic() - self._begin:.0f} s")
        if self._shown:
            print(file=sys.stderr)


@contextlib.contextmanager
def shown(progress, kind=Bar):
    """The callable for the core's `progress`: a function, or True for a bar of that kind; None and False are nothing."""
    if progress is not True:
        if progress is not None and progress is not False and not callable(progress):
            raise TypeError(f"progress={progress!r} - it is a function, which returns False to stop, or True for a bar")
        yield progress or None
        return
    bar, done = kind(), False
    try:
        yield bar
        done = bar._total != 0
    finally:
        bar.close(done)
