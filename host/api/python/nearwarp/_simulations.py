"""Runs: one program on one machine under one policy."""

from __future__ import annotations

import contextlib
import os
import typing as t

if t.TYPE_CHECKING:
    import pandas  # type: ignore[import]

from . import _core
from ._configurations import Machine, Policy, as_a
from ._core import Error, Result
from ._programs import Program, program_of
from ._progress import Bars, OfRun, function_of, shown, teller
from ._values import names_of, path_of, text, threads_of, whole


class Simulation(_core.Simulation):
    """One program on one machine under one policy; stopping it anywhere changes nothing of its result.

    Programs, machines and policies may be given by name. threads: of the host, for this one run.
    checkpoint: a file for its state, from which it goes on if it is there; save() writes it. progress: a
    function of a Progress, called some times a second; if it returns False the run stops, and can be resumed.
    True for a bar that shows the progress, in notebooks and on terminals, while a call goes on.
    """

    _bars: t.Optional[Bars] = None
    _about = ""

    def __init__(self, program: Program | str | os.PathLike, machine: Machine | str | os.PathLike,
                 policy: Policy | str | os.PathLike = "baseline", *, threads: int = 1,
                 checkpoint: str | os.PathLike = "", progress: OfRun = None) -> None:
        self._bars = Bars() if progress is True else None
        told = self._bars or function_of(progress)
        executed, on, under = program_of(program, progress), as_a(Machine, machine), as_a(Policy, policy)
        self._about = f"{executed.name} on {on.name} under {under.name}"
        super().__init__(executed._core, on._core, under._core, threads=threads_of(threads),
                         checkpoint=path_of(checkpoint), progress=told)

    def __repr__(self) -> str:
        return f"nearwarp.Simulation({self._about}: {self.cycles} cycles{'' if self.ended else ' so far'})"

    def _shown(self) -> t.ContextManager:
        return contextlib.nullcontext() if self._bars is None else self._bars.shown(lambda: self.ended)

    def run(self) -> None:
        """Go on to the end of the program, or until progress stops it."""
        with self._shown():
            super().run()

    def run_to_cycle(self, cycle: int) -> None:
        """Go on until all before that core cycle has been simulated, or as run()."""
        with self._shown():
            super().run_to_cycle(whole("cycle", cycle))

    def run_to_launch(self, launches: int) -> None:
        """Go on until so many launches have ended (a few cycles later at most), or as run()."""
        with self._shown():
            super().run_to_launch(whole("launches", launches))

    def run_calling(self, call: t.Callable[[Simulation], t.Optional[bool]], every: int) -> None:
        """Go on to the end, calling call(simulation) each `every` core cycles and at the end.

        It may ask for counters and cycles; if it returns False the run stops there, and can be resumed.
        """
        every = whole("every", every, 1)
        with self._shown():
            while not self.ended:
                until = min(self.cycles + every, 2**64 - 1)
                self.run_to_cycle(until)
                if self.cycles < until and not self.ended:
                    return  # progress() has stopped it
                if call(self) is False:
                    return

    def follow(self, every: int, counters: str | t.Iterable[str]) -> pandas.DataFrame:
        """The run in steps of `every` core cycles: a pandas.DataFrame with what was counted in each.

        Indexed by the cycle at which a step ends; a column for each name in `counters`, which are one or several.
        """
        import pandas
        names = names_of(counters)
        before = {name: self.counter(name) for name in names}
        rows: dict[int, dict[str, int]] = {}

        def count(_):
            row = rows.setdefault(self.cycles, dict.fromkeys(names, 0))  # steps that end in one cycle add up
            for name in names:
                now = self.counter(name)
                row[name] += now - before[name]
                before[name] = now
        self.run_calling(count, every)
        table = pandas.DataFrame.from_dict(rows, orient="index", columns=names)
        table.index.name = "cycle"
        return table


def run(program: Program | str | os.PathLike, machine: Machine | str | os.PathLike,
        policy: Policy | str | os.PathLike = "baseline", *, threads: int = 1,
        launches: str = "", sample: str | float = "", cold_caches: bool = False,
        progress: OfRun = None) -> Result:
    """Simulate to the end; returns a Result. Arguments as of Simulation.

    Large programs: launches, "I..J[:K]" or "parallel[@CORES|:K[:PARTS]]", or sample, an error in percent (2, or "2:K"),
    and cold_caches, as the options of `nearwarp run` (docs/launches.md); parts run side by side on so many threads.
    Result.exact and Result.cycles_error say what that made of the result.
    """
    if not (launches or sample or cold_caches):
        simulation = Simulation(program, machine, policy, threads=threads, progress=progress)
        simulation.run()
        return simulation.result
    point = _core.Point(program_of(program, progress)._core, as_a(Machine, machine)._core, as_a(Policy, policy)._core)
    with shown(progress) as told:
        result, = _core.run_all([point], threads=threads_of(threads), launches=text("launches", launches or ""),
                                sample=str(sample), cold_caches=cold_caches, progress=told, tell=teller(None))
    if isinstance(result, Error):
        raise result
    return result


def follow(program: Program | str, machine: Machine | str, policy: Policy | str = "baseline", *, every: int,
           counters: str | t.Iterable[str], threads: int = 1, progress: OfRun = None) -> pandas.DataFrame:
    """Counters over time, as Simulation.follow(); other arguments as of Simulation."""
    return Simulation(program, machine, policy, threads=threads, progress=progress).follow(every, counters)


def table(results: Result | t.Sequence[Result], *, width: int = 80, legend: bool = False,
          explain: bool = False) -> str:
    """The tables of `nearwarp run`, for print(): results of one program side by side, the first being what others
    are compared with. legend: what the rows are; explain: what takes energy, why candidates were offloaded or not."""
    return _core.table([results] if isinstance(results, Result) else list(results), width=whole("width", width), legend=legend,
                       explain=explain)
