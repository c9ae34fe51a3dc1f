"""Sweeps and experiments that keep their results in files, and resume from these."""

from __future__ import annotations

import io
import operator
import os
import time
import typing as t

if t.TYPE_CHECKING:
    import pandas  # type: ignore[import]

from . import _core
from ._core import ExperimentOutcome, Figure, Study, SweepOutcome
from ._lines import NUMBERS, Line, check_counters, lines_by_id, parsed
from ._progress import OfSweep, PointsBar, Tell, shown, teller
from ._values import axis_of, command_of, many_of, names_of, path_of, value_of_change, varied

_Path = t.Union[str, os.PathLike]
_Finished = t.Optional[t.Callable[["pandas.DataFrame"], t.Any]]
_TABLES_APART = 0.5  # seconds between two tables of what has ended


def _names(one_or_many: _Path | t.Sequence[_Path], kind: str) -> list[str]:
    many = many_of(one_or_many)
    for one in many:
        if not isinstance(one, (str, os.PathLike)):
            raise TypeError(f"{one!r} is no name or path of a {kind}: results are kept by names - nearwarp.sweep() "
                            "takes objects")
    return [path_of(one) for one in many]


def _part(part: str | tuple[int, int]) -> str:
    if isinstance(part, str):
        return part
    try:
        index, parts = map(operator.index, part)
    except (TypeError, ValueError):
        raise TypeError(f"part={part!r} - it is 'i/n' or (i, n): (1, 4) is the first of four") from None
    return f"{index}/{parts}"


class _Growing:
    """Makes a table of the points that have ended, and passes it to `finished`. `place`: a function of the first columns
    of a line's row."""

    def __init__(self, finished: t.Callable[[pandas.DataFrame], t.Any],
                 place: t.Callable[[Line], dict[str, t.Any]]) -> None:
        import pandas  # now, and not once points have run
        self._make = pandas.DataFrame
        self._finished, self._place, self._told, self._next = finished, place, 0, 0.0
        self._rows: list[dict[str, t.Any]] = []
        self._keys: dict[str, None] = {}

    def add(self, text: str) -> None:
        line = parsed(text)
        place = self._place(line)
        self._keys.update(dict.fromkeys(place))
        self._rows.append({**place, **line.numbers, "id": line.id})
        if time.monotonic() >= self._next:
            self.tell()

    def tell(self) -> None:
        if self._told == len(self._rows):
            return
        self._told = len(self._rows)
        self._finished(self._make(self._rows, columns=[*self._keys, *NUMBERS, "id", "error"]))
        self._next = time.monotonic() + _TABLES_APART


def _run(core: t.Any, out: str, progress: OfSweep, finished: _Finished, tell: t.Any,
         place: t.Callable[[Line], dict[str, t.Any]], options: dict) -> t.Any:
    growing = None if finished is None else _Growing(finished, place)
    with shown(progress, PointsBar) as told:
        outcome = core.run(out, progress=told, finished=growing and growing.add,
                           tell=teller(tell), **options)
    if growing is not None:
        growing.tell()
    return outcome


class Sweep:
    """All combinations of programs, machines, policies and values of keys, as `nearwarp sweep` runs them.

    >>> sweep = nw.Sweep(["kmeans", "app.nwtrace"], "tom", ["baseline", "tom"], {"gpu.sms": [32, 68]})
    >>> sweep.run("points.jsonl", progress=True)     # again, it runs what is not in the file yet
    >>> sweep.table("points.jsonl")

    programs, machines, policies: a name or path, or a list of them. keys: {"a.key": [values, ...], ...} of machines
    or policies, varied against each other. size, max_repeats: as of Program.load(). launches, sample, cold_caches: as
    of run(). What is wrong with all of it is an Error now; with a combination, the failure of its points.
    """

    def __init__(self, programs: _Path | t.Sequence[_Path], machines: _Path | t.Sequence[_Path],
                 policies: _Path | t.Sequence[_Path] = "baseline", keys: t.Optional[dict[str, t.Any]] = None, *,
                 size: str = "small", max_repeats: int = 0, launches: str = "", sample: str | float = "",
                 cold_caches: bool = False) -> None:
        self._keys = varied(keys)
        self._policies = _names(policies, "policy")
        self._core = _core.Sweep.plan(
            _names(programs, "program"), _names(machines, "machine"), self._policies,
            [axis_of(key, values) for key, values in self._keys.items()], size=size,
            max_repeats=max_repeats, launches=launches, sample=str(sample), cold_caches=cold_caches)

    def __len__(self) -> int:
        """The number of points."""
        return self._core.points

    def points(self) -> pandas.DataFrame:
        """A row for each point: program, size, machine, policy, a column for each key, id, which its line in a file
        of results has, too, and error: None, or why it cannot be run."""
        import pandas
        return pandas.DataFrame(self._rows(), columns=[*self._places(), "id", "error"])

    def _places(self) -> list[str]:
        return ["program", "size", "machine", "policy", *self._keys]

    def _place(self, point: _core.SweepPoint) -> dict[str, t.Any]:
        """A point's columns of _places()."""
        keys = dict(map(value_of_change, point.values))
        return {"program": point.program, "size": point.size, "machine": point.machine, "policy": point.policy, **keys}

    def _rows(self) -> list[dict[str, t.Any]]:
        return [{**self._place(p), "id": p.id, "error": p.error or None}
                for p in map(self._core.point, range(len(self)))]

    def run(self, out: _Path, *, part: str | tuple[int, int] = "", retry: bool = False, threads: int = 0,
            backend: str = "cpu", device: int = 0, checkpoints: _Path = "", cache: _Path = "", csv: _Path = "",
            progress: OfSweep = None, finished: _Finished = None,
            tell: Tell = None) -> SweepOutcome:
        """Run what is not in `out` yet; the failure of a point is its result.

        out: a file to which a line of JSON is appended as each point ends (docs/sweep.md), or a folder for such a
        file (it is there, or the name ends with "/"). part: "i/n" or (i, n), of which processes or machines run one
        each; with a folder, a run of the whole joins them. retry: points that failed run again. threads: points at a
        time, 0: one for each processor. backend: "cpu", or "cuda" with the number of a device. checkpoints: a folder
        for states of points, from which they go on. cache: a folder for programs that were executed. csv: a file for
        a row per point.

        progress: a function of a SweepProgress, called some times a second, which returns False to stop, or True for
        a bar. finished: a function of the table of all points that have ended in this call, in that order (columns as
        of table(), but for speedup), called as it grows, twice a second at most, and at the end. tell: told what is
        worth knowing; else the module logging's logger nearwarp is.
        """
        return _run(self._core, path_of(out), progress, finished, tell,
                    lambda line: self._place(self._core.point(line.at)),
                    {"part": _part(part), "retry": retry, "threads": threads, "backend": backend, "device": device,
                     "checkpoints": path_of(checkpoints), "cache": path_of(cache), "csv": path_of(csv)})

    def table(self, out: _Path, counters: str | t.Iterable[str] = ()) -> pandas.DataFrame:
        """The points that `out` has of the sweep, also while it runs: a row for each, in their order.

        Columns: program, size, machine, policy, a column for each key, status ("complete", "partial" or "failed"),
        cycles (of the core clock), ipc (thread-instructions a cycle), speedup (over the first policy, where both are
        complete), bytes by class of link, energy_joules (an estimate), cycles_error (of a sample: how far cycles may
        be off, relative, at 95 % confidence), approximated (what of a run is, or None), those of `counters`, id, and
        error: None, or why a point has no result. Of points that have not been run, all of these are empty, as is a
        counter of a run that has none of that name, such as a mechanism's under baseline.
        """
        import pandas
        names = names_of(counters)
        lines = lines_by_id(path_of(out))
        rows = self._rows()
        check_counters((name for row in rows if row["id"] in lines for name in lines[row["id"]].counters), names)
        for row in rows:
            line = lines.get(row["id"])
            if line is not None:
                row.update(line.numbers, **{name: line.counters.get(name) for name in names})
        for at, row in enumerate(rows):
            first = rows[at - at % len(self._policies)]
            if row.get("status") == first.get("status") == "complete" and row["cycles"] != 0:
                row["speedup"] = first["cycles"] / row["cycles"]
        numbers = [*NUMBERS]
        numbers.insert(NUMBERS.index("ipc") + 1, "speedup")
        return pandas.DataFrame(rows, columns=[*self._places(), *numbers, *names, "id", "error"])

    def __repr__(self) -> str:
        return f"nearwarp.Sweep({len(self)} points)"


def _table_of(csv: str) -> pandas.DataFrame:
    """The table of a CSV text, with its numbers to the bit."""
    import pandas
    return pandas.read_csv(io.StringIO(csv), float_precision="round_trip")


class Report:
    """The findings of an experiment: summary, text and figures for reading, and all of it as tables, JSON and a page.

    summary: sentences. text: with the figures' tables, as `nearwarp experiment` prints it. json: docs/experiments.md
    says what it has. html: a page that shows it without a network.
    """

    def __init__(self, core: t.Any) -> None:
        self._core = core
        self.summary: str = core.summary
        self.json: str = core.json
        self.html: str = core.html
        self.text: str = "\n".join([core.summary] * bool(core.summary) + [f.text for f in core.figures])

    @property
    def figures(self) -> dict[str, pandas.DataFrame]:
        """A table of each figure, by name, with a row per value: a column for x and one for series, named after them
        (workload, policy), part, value, unit, and the published value with its source."""
        return {f.name: _table_of(f.csv) for f in self._core.figures}

    @property
    def latex(self) -> dict[str, str]:
        """A LaTeX tabular of each figure, by name."""
        return {f.name: f.latex for f in self._core.figures}

    @property
    def points(self) -> pandas.DataFrame:
        """A table with a row per point that has a result, and units in the columns' names."""
        return _table_of(self._core.points_csv)

    def write(self, folder: _Path) -> None:
        """points.csv, experiment.json, report.html, figures/NAME.csv and .tex, as the command line does."""
        self._core.write(path_of(folder))


class Experiment:
    """Studies, which are sweeps, and figures of their results, as a file has them (docs/experiments.md).

    >>> tom = nw.Experiment("tom", only=["speedup"], size="small")
    >>> tom.run("tom-small", progress=True)          # again, it runs what is not in the folder yet
    >>> tom.report("tom-small").figures["speedup"]
    >>> nw.Experiment.new("app.toml", ["./app", "its", "arguments"]).run("app")

    By name, or by the path of a .toml file. only: names of figures; other figures, and the studies that none of these
    needs, are left out. size: of workloads, else the file's. launches, sample, cold_caches: as of run().
    """

    def __init__(self, name_or_path: _Path, *, only: t.Sequence[str] = (), size: str = "", launches: str = "",
                 sample: str | float = "", cold_caches: bool = False) -> None:
        self._plan(_core.ExperimentFile.load(path_of(name_or_path)), only, size, launches, sample, cold_caches)

    @classmethod
    def parse(cls, toml: str, name: str = "experiment", folder: _Path = ".", *, only: t.Sequence[str] = (),
              size: str = "", launches: str = "", sample: str | float = "", cold_caches: bool = False) -> t.Self:
        """An experiment from the text of such a file; `name` stands in results and messages, and relative paths in the
        text begin in `folder`."""
        made = cls.__new__(cls)
        made._plan(_core.ExperimentFile.parse(toml, name, path_of(folder)), only, size, launches, sample, cold_caches)
        return made

    @classmethod
    def new(cls, path: _Path, program: _Path | t.Sequence[_Path]) -> t.Self:
        """Write a file to begin with, for a program by name or path, or an application with its arguments (a list)."""
        path = path_of(path)
        if isinstance(program, (str, os.PathLike)):
            _core.new_experiment(path, path_of(program))
        else:
            _core.new_experiment_of_application(path, command_of(program))
        return cls(os.path.abspath(path))

    def _plan(self, file: _core.ExperimentFile, only: t.Sequence[str], size: str, launches: str, sample: str | float,
              cold_caches: bool) -> None:
        self._file = file.only([only] if isinstance(only, str) else list(only))
        self._core = _core.Experiment.plan(self._file, size=size, launches=launches, sample=str(sample),
                                           cold_caches=cold_caches)

    @property
    def name(self) -> str:
        """The experiment's name."""
        return self._file.name

    @property
    def title(self) -> str:
        """The title of its report."""
        return self._file.title

    @property
    def description(self) -> str:
        """Its purpose, in its file's words."""
        return self._file.description

    @property
    def size(self) -> str:
        """The size of the workloads."""
        return self._core.size

    @property
    def folder(self) -> str:
        """Where results are kept if run() is not told: NAME-SIZE, as the command line does."""
        return self._core.folder

    @property
    def studies(self) -> list[Study]:
        """Study objects: name, about, programs, machines, policies, values."""
        return self._file.studies

    @property
    def figures(self) -> list[Figure]:
        """Figure objects: name, title, about, studies."""
        return self._file.figures

    def points(self) -> pandas.DataFrame:
        """A row for each point of each study: study, program, size, machine, policy, values, a dict from keys to
        values, id, which is the same for points of several studies that are the same, and error."""
        import pandas
        return pandas.DataFrame([
            {"study": study, "program": p.program, "size": p.size, "machine": p.machine, "policy": p.policy,
             "values": dict(map(value_of_change, p.values)),
             "id": p.id, "error": p.error or None} for study, p in self._core.points()])

    def run(self, out: _Path = "", *, part: str | tuple[int, int] = "", retry: bool = False, threads: int = 0,
            backend: str = "cpu", device: int = 0, checkpoints: _Path = "", cache: _Path = "",
            progress: OfSweep = None, finished: _Finished = None,
            tell: Tell = None) -> ExperimentOutcome:
        """Run what is not in the folder `out` yet; the failure of a point is its result. Arguments as of Sweep.run().

        What applications and PTX of the experiment's own did is kept in the folder, too.
        """
        return _run(self._core, path_of(out) or self.folder, progress, finished, tell,
                    lambda line: {**line.place, **line.values},
                    {"part": _part(part), "retry": retry, "threads": threads, "backend": backend, "device": device,
                     "checkpoints": path_of(checkpoints), "cache": path_of(cache)})

    def report(self, out: _Path = "", *, width: int = 80) -> Report:
        """A Report of what the folder has, also while it runs. width: columns of its text."""
        return Report(self._core.report(path_of(out) or self.folder, width=width))

    def __repr__(self) -> str:
        return f"nearwarp.Experiment({self.name!r}, size={self.size!r})"
