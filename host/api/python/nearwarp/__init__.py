"""nearwarp: a cycle-level simulator of GPUs with near-data processing.

>>> import nearwarp as nw
>>> kmeans = nw.Program.workload("kmeans")
>>> result = nw.run(kmeans, "tom", "tom")
>>> result.cycles, result.counter("sm.l1.read_hits")
>>> nw.sweep([kmeans], "tom", ["baseline", "tom"],
...          {"links.gpu_to_memory_mbps": [40000, 80000]})       # a pandas.DataFrame
>>> nw.Sweep("kmeans", "tom", ["baseline", "tom"]).run("points.jsonl")  # the same, kept and gone on with
>>> nw.Experiment("tom", only=["speedup"]).run()                # a paper's studies, figures and report

Results are those of the command line, to the bit. Whatever takes long lets other threads of Python run,
and Ctrl-C ends it. What goes wrong is a nearwarp.Error, which says what would be right.
"""

from __future__ import annotations

import itertools as _itertools
from contextlib import nullcontext as _nullcontext
import logging as _logging
import operator as _operator
import os as _os
import struct as _struct
import typing as _t

if _t.TYPE_CHECKING:
    import numpy
    import pandas  # type: ignore[import]

    from ._keys import MachineKey, MachineKeys, PolicyKey, PolicyKeys

from . import _core
from ._core import (Counter, Error, ExperimentOutcome, Figure, Key, Launch, LaunchResult, Progress, Result, Study,
                    SweepOutcome, SweepProgress, version)
from ._progress import ActivityBar as _ActivityBar, Bars as _Bars, function_of as _function_of, shown as _shown
from ._lines import check_counters as _check_counters
from ._values import (changes as _changes, command_of as _command_of, names_of as _names_of, path_of as _path_of,
                      value_of as _value_of, varied as _varied)
from ._sweeps import Experiment, Report, Sweep

__all__ = ["Analysis", "Counter", "Device", "Error", "Experiment", "ExperimentOutcome", "Figure", "Key", "Launch",
           "LaunchResult", "Machine", "Policy", "Program", "Progress", "Report", "Result", "Simulation", "Study", "Sweep",
           "SweepOutcome", "SweepProgress", "analyze", "check", "compare", "experiment_names", "follow", "machine_names",
           "machines", "mappings", "network", "objects", "policies", "policy_names", "probe", "run", "sharing", "sweep",
           "table", "version", "workload_names", "workloads"]
__version__ = version()

# Functions of a Progress; of a thing that is done, how much and of how much. False stops; True is a bar.
_OfRun = _t.Union[bool, _t.Callable[[Progress], _t.Optional[bool]], None]
_OfActivity = _t.Union[bool, _t.Callable[[str, int, int], _t.Optional[bool]], None]
_Tell = _t.Optional[_t.Callable[[str], _t.Any]]


def machine_names() -> list[str]:
    """Names of the machines there are, for Machine()."""
    return _core.machine_names()


def policy_names() -> list[str]:
    """Names of the policies there are, for Policy()."""
    return _core.policy_names()


def experiment_names() -> list[str]:
    """Names of the experiments there are, for Experiment()."""
    return _core.experiment_names()


def workload_names() -> dict[str, str]:
    """Programs that come with nearwarp: a dict from name to description."""
    return dict(_core.workload_names())


class _Made(_t.NamedTuple):
    """What a machine or a policy was made of."""

    make: _t.Callable  # load() or parse() of the compiled type
    source: tuple[str, ...]
    changes: list[str]


def _remade(cls, make, source, changes):
    return cls._of(_Made(getattr(cls._type, make), source, changes))


def _absolute(name_or_path):
    """A path from anywhere; names stay as they are."""
    is_path = _os.sep in name_or_path or name_or_path.endswith(".toml")
    return _os.path.abspath(name_or_path) if is_path else name_or_path


class _Configuration:
    """A machine or a policy. They are never changed: changed() makes another."""

    _type: _t.Any = None  # of the compiled part

    def __init__(self, name_or_path: str | _os.PathLike, keys: _t.Any = None) -> None:
        """By name ("tom") or the path of a .toml file; `keys`: {"gpu.sms": 32, ...} for some of its keys."""
        name, changes = _path_of(name_or_path), _changes(keys)
        self._core = self._type.load(name, changes)
        self._made = _Made(self._type.load, (_absolute(name),), changes)

    @classmethod
    def parse(cls, toml: str, name: _t.Optional[str] = None, keys: _t.Any = None) -> _t.Self:
        """One of the text of such a file; `name` stands in results and messages."""
        return cls._of(_Made(cls._type.parse, (toml, name or cls.__name__.lower()), _changes(keys)))

    @classmethod
    def _of(cls, made: _Made) -> _t.Self:
        one = cls.__new__(cls)
        one._core, one._made = made.make(*made.source, made.changes), made
        return one

    def __reduce__(self):
        """As its name, path or text, and what was changed: a file is read where it is unpickled."""
        return _remade, (type(self), self._made.make.__name__, *self._made[1:])

    def changed(self, keys: _t.Any) -> _t.Self:
        """A copy with other values for some keys."""
        changes = _changes(keys)
        one = type(self).__new__(type(self))
        one._core, one._made = self._core.changed(changes), self._made._replace(changes=[*self._made.changes, *changes])
        return one

    @property
    def name(self) -> str:
        """Its file's, without the ending."""
        return self._core.name

    @property
    def keys(self) -> list[Key]:
        """All keys: Key objects with name, value, unit, doc (one sentence), range and source."""
        return self._core.keys

    def __getitem__(self, key: _t.Any) -> int | bool | str:
        """A key's value: an int, a bool or a text."""
        return _value_of(self._core.get(key))

    def describe(self, begin: str = "") -> str:
        """Its keys, or those that begin so: value, unit, range, meaning and source of each."""
        found = [k for k in self.keys if k.name.startswith(begin)]
        if not found:
            self._core.get(begin)  # says which there are
        return "\n".join(f"{k.name} = {k.value}{' ' + k.unit if k.unit else ''}\n    {k.doc} ({k.range})"
                         + (f"\n    source: {k.source}" if k.source else "") for k in found)

    def table(self) -> pandas.DataFrame:
        """All keys as a pandas.DataFrame with key, value, unit, range, doc and source."""
        import pandas
        return pandas.DataFrame([(k.name, _value_of(k.value), k.unit, k.range, k.doc, k.source)
                                 for k in self.keys],
                                columns=["key", "value", "unit", "range", "doc", "source"]).set_index("key")

    def _ipython_key_completions_(self):
        return [k.name for k in self.keys]

    def __repr__(self):
        return f"nearwarp.{type(self).__name__}({self.name!r})"


class Machine(_Configuration):
    """A machine: machine["gpu.sms"], machine.changed({"gpu.sms": 32}), machine.table()."""

    _type = _core.Machine
    if _t.TYPE_CHECKING:
        # Editors complete the keys; those that a program makes or reads are texts.
        @_t.overload
        def __init__(self, name_or_path: str | _os.PathLike, keys: _t.Optional[MachineKeys] = None): ...
        @_t.overload
        def __init__(self, name_or_path: str | _os.PathLike, keys: _t.Mapping[str, object]): ...
        def __init__(self, name_or_path, keys=None): ...
        @_t.overload
        def changed(self, keys: MachineKeys) -> _t.Self: ...
        @_t.overload
        def changed(self, keys: _t.Mapping[str, object]) -> _t.Self: ...
        def changed(self, keys): ...
        def __getitem__(self, key: MachineKey | str) -> int | bool | str: ...


class Policy(_Configuration):
    """A policy: the mechanisms that compute near memory, and how they are set."""

    _type = _core.Policy
    if _t.TYPE_CHECKING:
        @_t.overload
        def __init__(self, name_or_path: str | _os.PathLike, keys: _t.Optional[PolicyKeys] = None): ...
        @_t.overload
        def __init__(self, name_or_path: str | _os.PathLike, keys: _t.Mapping[str, object]): ...
        def __init__(self, name_or_path, keys=None): ...
        @_t.overload
        def changed(self, keys: PolicyKeys) -> _t.Self: ...
        @_t.overload
        def changed(self, keys: _t.Mapping[str, object]) -> _t.Self: ...
        def changed(self, keys): ...
        def __getitem__(self, key: PolicyKey | str) -> int | bool | str: ...


_APPLICATION_OPTIONS = {"kernels", "max_thread_instructions", "max_trace_bytes", "registers", "interleave",
                        "execute_most", "time_limit_seconds", "devices", "strict_bounds", "output",
                        "max_repeats", "cache", "simulated_events", "tell"}


def _told(tell):
    return tell or _logging.getLogger("nearwarp").warning


def _application(command, machine):
    return _command_of(command), _as(Machine, machine)._core


def _chosen(options):
    for name in options:
        if name not in _APPLICATION_OPTIONS:
            raise TypeError(f"no option {name!r} - there are {', '.join(sorted(_APPLICATION_OPTIONS))}")
    options = {"tell": _told(None), **options}
    return {name: _path_of(value) if name in ("output", "cache") else value for name, value in options.items()}


def _document_keys(cls):
    """The keys behind a class's documentation, so that help() has them."""
    lines = [f"  {k.name}{' [' + k.unit + ']' if k.unit else ''} ({k.range})\n      {k.doc}"
             for k in cls._type.all_keys()]
    cls.__doc__ += "\n\n    Keys; describe() has one's values and their sources:\n\n" + "\n".join(lines) + "\n"


_document_keys(Machine)
_document_keys(Policy)


class Program:
    """A program that has been executed and can be simulated."""

    def __init__(self, core):
        self._core = core

    @classmethod
    def load(cls, names: str | _os.PathLike, size: str = "small", max_repeats: int = 0,
             cache: str | _os.PathLike = "", *, progress: _OfActivity = None, tell: _Tell = None) -> Program:
        """By name as `nearwarp run` takes it: a workload, which is executed, a recording (.nwtrace) or traces
        (kernelslist.g); "kmeans@0" and "kmeans@1-3" keep to memory stacks; "kmeans+libor" run at the same time.

        size and max_repeats: as of workload(). cache: a folder where programs that have been executed or read
        are kept and used again. progress: a function of what is done, how much, and of how much (0: nobody knows),
        called some times a second while it is executed or read; False stops. True for a bar. tell: a function that
        is told what is worth knowing, such as what traces lack (else the module logging's logger nearwarp is).
        """
        with _shown(progress, _ActivityBar) as asked:
            return cls(_core.Program.load(_path_of(names), size, max_repeats=max_repeats, cache=_path_of(cache),
                                          progress=asked, tell=_told(tell)))

    @classmethod
    def workload(cls, name: str, size: str = "small", max_repeats: int = 0, *,
                 progress: _OfActivity = None) -> Program:
        """Execute one of workload_names() and check its result.

        size: "small", "medium", "large" or "paper". max_repeats: of launches that are the same, only
        the first so many are simulated, and stand for the others; 0: all. progress: as of load().
        """
        with _shown(progress, _ActivityBar) as asked:
            return cls(_core.Program.workload(name, size, max_repeats=max_repeats, progress=asked))

    @classmethod
    def recording(cls, path: str | _os.PathLike, max_repeats: int = 0, *, progress: _OfActivity = None,
                  tell: _Tell = None) -> Program:
        """A file that `nearwarp record` or save() has written, or Accel-Sim's kernelslist.g. Arguments as of load()."""
        with _shown(progress, _ActivityBar) as asked:
            return cls(_core.Program.recording(_path_of(path), max_repeats=max_repeats, progress=asked,
                                               tell=_told(tell)))

    @classmethod
    def application(cls, command: _t.Sequence[str], machine: Machine | str = "tom", **options) -> Program:
        """Run a CUDA application, ["./app", "its", "arguments"], and keep what its kernels did.

        An Error if it used no GPU, or if several of its processes did: processes() has each.

        machine: what it takes the GPU for. options: kernels, a regular expression: only kernels with a match
        are kept (all run); max_thread_instructions, to keep; max_trace_bytes, of traces of thread blocks that
        run together; registers, who counts them: "auto", "own" or "ptxas"; interleave, warps take turns every
        so many instructions; execute_most (thread-instructions), time_limit_seconds: it is ended then;
        devices, that it sees; strict_bounds; output, a file for what it prints (else where this process
        prints); max_repeats, as of workload(); cache, a folder for what ptxas answers; simulated_events: it
        measures times simulated on the machine, else estimates; tell, a function that is told what is worth knowing (else
        the module logging's logger nearwarp is).
        """
        return cls(_core.Program.application(*_application(command, machine), **_chosen(options)))

    @classmethod
    def processes(cls, command: _t.Sequence[str], machine: Machine | str = "tom", **options) -> list[Program]:
        """As application(), of one that has several processes which use the GPU: a Program of each."""
        return [cls(core) for core in
                _core.Program.processes(*_application(command, machine), **_chosen(options))]

    def save(self, path: str | _os.PathLike) -> None:
        """Keep it as a recording (.nwtrace), which the command line reads, too."""
        self._core.save(_path_of(path))

    @property
    def name(self) -> str:
        """The workload's, the recording's or the application's."""
        return self._core.name

    @property
    def size(self) -> str:
        """The size of a workload; else empty."""
        return self._core.size

    @property
    def warp_instructions(self) -> int:
        """Executed, of all launches."""
        return self._core.warp_instructions

    @property
    def thread_instructions(self) -> int:
        """Executed by all lanes, of all launches."""
        return self._core.thread_instructions

    @property
    def launches(self) -> list[Launch]:
        """Launch objects: kernel, warp_instructions, thread_instructions."""
        return self._core.launches

    @property
    def truncated(self) -> bool:
        """Not all of it was kept."""
        return self._core.truncated

    def __repr__(self):
        return (f"nearwarp.Program({self.name!r}, {self.warp_instructions} warp-instructions in "
                f"{len(self.launches)} launches)")


def _check_numbers(dtype):
    """Throws where a GPU would not find numbers."""
    if dtype.hasobject or (dtype.names is None and dtype.base.kind not in "biufc"):
        raise TypeError(f"an array of {dtype} has no numbers that a GPU can use - numpy.asarray(it, dtype=\"float32\"), "
                        "or another type, makes one")
    if not dtype.isnative:
        raise TypeError(f"the numbers of {dtype} are big-endian, and a GPU's are not - "
                        "array.astype(array.dtype.newbyteorder(\"=\")) turns them round")


def _extent(extent, name):
    """The one to three numbers of a grid or a block."""
    extent = extent.tolist() if hasattr(extent, "tolist") else extent
    try:
        return [_operator.index(n) for n in ([extent] if hasattr(extent, "__index__") else extent)]
    except TypeError:
        raise TypeError(f"{name}={extent!r} - it is a whole number, or up to three of them") from None


def _packed(arguments, types):
    """A kernel's parameters as bytes."""
    arguments = [a.tolist() if hasattr(a, "tolist") else a for a in arguments]  # numpy's numbers as Python's own
    if types is None:
        types = "".join("f" if isinstance(a, float) else "q" for a in arguments)
    if len(types) != len(arguments):
        raise ValueError(f"{len(arguments)} arguments, but {len(types)} types - give one for each")
    packed = b""
    for at, (letter, argument) in enumerate(zip(types, arguments)):
        if letter not in "?bBhHiIlLqQefd":
            raise ValueError(f"types[{at}]={letter!r} is no number's type - Q is an address, q i64, I u32, i s32, f f32, d f64")
        try:
            value = _struct.pack("=" + letter, argument)
        except (_struct.error, OverflowError, TypeError) as error:
            wrong = ValueError if isinstance(argument, (int, float)) else TypeError
            raise wrong(f"arguments[{at}]={argument!r} cannot be of type {letter!r}: {error}") from None
        packed += b"\0" * (-len(packed) % len(value)) + value
    return packed


class Device:
    """A GPU's functional part: runs kernels of PTX and keeps what they did as a program.

    >>> device = nw.Device()
    >>> kernels = device.load(open("mine.ptx").read())
    >>> at = device.upload(numpy.arange(1000, dtype="float32"))
    >>> device.launch(kernels, "scale", grid=8, block=128, arguments=[at, 2.0, 1000], types="Qfi")
    >>> device.download(at, 1000, "float32")
    >>> nw.run(device.take_program("scale"), "tom", "baseline").cycles

    print: a function that is told what kernels print, thread block after thread block; without it that is lost.
    """

    def __init__(self, print: _t.Optional[_t.Callable[[str], _t.Any]] = None) -> None:
        self._core = _core.Device(print)

    def load(self, ptx: str, name: str = "text") -> int:
        """Load PTX text; returns what launch() wants as its module."""
        return self._core.load(ptx, name)

    def allocate(self, num_bytes: int, name: str = "") -> int:
        """An address of so many bytes of device memory."""
        return self._core.allocate(num_bytes, name)

    def free(self, address: int) -> None:
        """Give back what allocate() or upload() has returned."""
        self._core.free(address)

    def upload(self, array: numpy.ndarray, name: str = "") -> int:
        """The address of a copy of a numpy array of numbers in device memory."""
        import numpy
        array = numpy.ascontiguousarray(array)
        _check_numbers(array.dtype)
        address = self.allocate(array.nbytes, name)
        self.write(address, array)
        return address

    def write(self, address: int, array: numpy.ndarray) -> None:
        """Copy a numpy array, or another object with a buffer, to device memory."""
        self._core.write(address, array)

    def download(self, address: int, count: int, dtype: _t.Any) -> numpy.ndarray:
        """`count` values of device memory as a numpy array."""
        import numpy
        dtype = numpy.dtype(dtype)
        _check_numbers(dtype)
        array = numpy.empty(count, dtype)
        self._core.read(address, array)
        return array

    def launch(self, module: int, kernel: str, grid: _t.SupportsIndex | _t.Sequence[_t.SupportsIndex],
               block: _t.SupportsIndex | _t.Sequence[_t.SupportsIndex], arguments: _t.Sequence = (),
               types: _t.Optional[str] = None, shared_bytes: int = 0, *, progress: _OfActivity = None) -> None:
        """Run a kernel to its end.

        grid (thread blocks), block (threads): a number or up to three. arguments: its parameters in order;
        types: a letter of the struct module for each (Q address, q i64, I u32, i s32, f f32, d f64, ...);
        without it, integers are 8 bytes and floats 4, which is right where these are what the kernel has.
        shared_bytes: dynamic shared memory of a block. progress: as of Program.load(); a kernel that is stopped is an
        Error, and those of its thread blocks stay in the program that had ended.
        """
        packed = _packed(arguments, types)
        with _shown(progress, _ActivityBar) as asked:
            self._core.launch(module, kernel, _extent(grid, "grid"), _extent(block, "block"), packed, shared_bytes, asked)

    def take_program(self, name: str) -> Program:
        """All that has been launched, as a Program; the device begins anew."""
        return Program(self._core.take_program(name))


def _as(cls, one):
    return one if isinstance(one, cls) else cls(one)


def _program(one, progress=None):
    """`progress` is that of what is done with it: a bar shows programs that are executed before, too."""
    return one if isinstance(one, Program) else Program.load(one, progress=progress is True)


class Simulation(_core.Simulation):
    """One program on one machine under one policy; stopping it anywhere changes nothing of its result.

    Programs, machines and policies may be given by name. threads: of the host, for this one run.
    checkpoint: a file for its state, from which it goes on if it is there; save() writes it. progress: a
    function of a Progress, called some times a second; if it returns False the run stops, and can be gone
    on with. True for a bar that says how far it is, in notebooks and on terminals, while a call goes on.
    """

    _bars: _t.Optional[_Bars] = None

    def __init__(self, program: Program | str | _os.PathLike, machine: Machine | str | _os.PathLike,
                 policy: Policy | str | _os.PathLike = "baseline", *, threads: int = 1,
                 checkpoint: str | _os.PathLike = "", progress: _OfRun = None) -> None:
        self._bars = _Bars() if progress is True else None
        told = self._bars or _function_of(progress)
        super().__init__(_program(program, progress)._core, _as(Machine, machine)._core, _as(Policy, policy)._core,
                         threads=threads, checkpoint=_path_of(checkpoint), progress=told)

    def _shown(self) -> _t.ContextManager:
        return _nullcontext() if self._bars is None else self._bars.shown(lambda: self.ended)

    def run(self) -> None:
        """Go on to the end of the program, or until progress stops it."""
        with self._shown():
            super().run()

    def run_to_cycle(self, cycle: int) -> None:
        """Go on until all before that core cycle has been simulated, or as run()."""
        with self._shown():
            super().run_to_cycle(cycle)

    def run_to_launch(self, launches: int) -> None:
        """Go on until so many launches have ended (a few cycles later at most), or as run()."""
        with self._shown():
            super().run_to_launch(launches)

    def run_calling(self, call: _t.Callable[[Simulation], _t.Optional[bool]], every: int) -> None:
        """Go on to the end, calling call(simulation) each `every` core cycles and at the end.

        It may ask for counters and cycles; if it returns False the run stops there, and can be gone on with.
        """
        if every < 1:
            raise ValueError(f"every={every} - it is a number of core cycles, of at least 1")
        with self._shown():
            while not self.ended:
                until = self.cycles + every
                self.run_to_cycle(until)
                if self.cycles < until and not self.ended:
                    return  # progress() has stopped it
                if call(self) is False:
                    return

    def follow(self, every: int, counters: str | _t.Iterable[str]) -> pandas.DataFrame:
        """The run in steps of `every` core cycles: a pandas.DataFrame with what was counted in each.

        Indexed by the cycle at which a step ends; a column for each name in `counters`, which are one or several.
        """
        import pandas
        names = _names_of(counters)
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


def run(program: Program | str | _os.PathLike, machine: Machine | str | _os.PathLike,
        policy: Policy | str | _os.PathLike = "baseline", *, threads: int = 1,
        launches: str = "", sample: str | float = "", cold_caches: bool = False,
        progress: _OfRun = None) -> Result:
    """Simulate to the end; returns a Result. Arguments as of Simulation.

    Large programs: launches, "I..J[:K]" or "parallel[@CORES|:K[:PARTS]]", or sample, an error in percent (2, or "2:K"),
    and cold_caches, as the options of `nearwarp run` (docs/launches.md); parts run side by side on so many threads.
    Result.exact and Result.cycles_error say what that made of the result.
    """
    if not (launches or sample or cold_caches):
        simulation = Simulation(program, machine, policy, threads=threads, progress=progress)
        simulation.run()
        return simulation.result
    point = _core.Point(_program(program, progress)._core, _as(Machine, machine)._core, _as(Policy, policy)._core)
    with _shown(progress) as told:
        result, = _core.run_all([point], threads=threads, launches=launches, sample=str(sample),
                                cold_caches=cold_caches, progress=told, tell=_told(None))
    if isinstance(result, Error):
        raise result
    return result


def follow(program: Program | str, machine: Machine | str, policy: Policy | str = "baseline", *, every: int,
           counters: str | _t.Iterable[str], threads: int = 1, progress: _OfRun = None) -> pandas.DataFrame:
    """Counters over time, as Simulation.follow(); other arguments as of Simulation."""
    return Simulation(program, machine, policy, threads=threads, progress=progress).follow(every, counters)


def table(results: Result | _t.Sequence[Result], *, width: int = 80, legend: bool = False,
          explain: bool = False) -> str:
    """The tables of `nearwarp run`, for print(): results of one program side by side, the first being what others
    are compared with. legend: what the rows are; explain: what takes energy, why candidates were offloaded or not."""
    return _core.table([results] if isinstance(results, Result) else list(results), width=width, legend=legend,
                       explain=explain)


def _list(one_or_many, kind):
    return list(one_or_many) if isinstance(one_or_many, (list, tuple)) else [one_or_many]


def sweep(programs, machines, policies, keys: _t.Optional[dict[str, _t.Any]] = None, *,
          counters: str | _t.Iterable[str] = (), threads: int = 0, backend: str = "cpu", device: int = 0,
          launches: str = "", sample: str | float = "", cold_caches: bool = False,
          progress: _OfRun = None) -> pandas.DataFrame:
    """All combinations side by side: a pandas.DataFrame with a row for each.

    programs, machines, policies: one or a list. keys: {"a.key": [values, ...], ...} of machines or
    policies, varied against each other. counters: names of counters that become columns, empty for a run that has
    none of that name; the module logging's logger nearwarp is told beforehand of one that no run begins with. threads: 0
    for one for each processor. launches, sample, cold_caches: as of run(). progress: a function of a Progress, or True for a
    bar that says how far it is, in notebooks and on terminals.

    Columns: program, machine, policy, a column for each key, status ("complete", "partial" where progress has stopped
    it, or "failed"), cycles, ipc, speedup (over the first policy, where both are complete), bytes by class of link,
    energy_joules, the counters, error (None, or why a point has no result) and result (a Result).
    """
    import pandas
    names = _names_of(counters)
    programs = [_program(p, progress) for p in _list(programs, Program)]
    machines = [_as(Machine, m) for m in _list(machines, Machine)]
    policies = [_as(Policy, p) for p in _list(policies, Policy)]
    keys = _varied(keys)
    rows: list[dict[str, _t.Any]] = []
    points: list[tuple[int, tuple[_core.Program, _core.Machine, _core.Policy]]] = []
    for program, machine in _itertools.product(programs, machines):
        for values in _itertools.product(*keys.values()):
            chosen = dict(zip(keys, values))
            for policy in policies:
                row = {"program": program.name, "machine": machine.name, "policy": policy.name, **chosen,
                       "error": None, "result": None}
                try:
                    changed = _with_keys(machine, policy, chosen, policies)
                    points.append((len(rows), (program._core, changed[0]._core, changed[1]._core)))
                except Error as error:
                    row["error"] = error
                rows.append(row)
    try:
        _check_counters(_counters_of(point for _, point in points), names)
    except Error as error:  # some counters are there once they count, and results are not thrown away for a name
        _told(None)(f"{error.what} when it begins - {error.right}")
    with _shown(progress) as told:
        results = _core.run_all([_core.Point(*point) for _, point in points], threads=threads, backend=backend, device=device,
                                launches=launches, sample=str(sample), cold_caches=cold_caches, progress=told,
                                tell=_told(None))
    for (at, _), result in zip(points, results):
        rows[at]["error" if isinstance(result, Error) else "result"] = result
    for at, row in enumerate(rows):
        ended, first = row["result"], rows[at - at % len(policies)]
        row["status"] = "failed" if ended is None else "partial" if ended.partial else "complete"
        for name in ("cycles", "ipc", "gpu_to_memory_bytes", "memory_to_gpu_bytes", "memory_to_memory_bytes",
                     "energy_joules"):
            row[name] = None if ended is None else getattr(ended, name)
        both = row["status"] == first["status"] == "complete"
        row["speedup"] = first["cycles"] / row["cycles"] if both and row["cycles"] != 0 else None
        if names and ended is not None:
            counted = {counter.name: counter.value for counter in ended.counters}
            row.update((name, counted.get(name)) for name in names)
    order = ["program", "machine", "policy", *keys, "status", "cycles", "ipc", "speedup", "gpu_to_memory_bytes",
             "memory_to_gpu_bytes", "memory_to_memory_bytes", "energy_joules", *names, "error", "result"]
    return pandas.DataFrame(rows, columns=order)


def _counters_of(points):
    """Names of the counters of points, which are not simulated; none of points that cannot be."""
    for point in points:
        try:
            yield from [counter.name for counter in _core.Simulation(*point).result.counters]
        except Error:
            pass  # its row will say so


def _with_keys(machine, policy, keys, all_policies):
    """Both with the keys that are theirs. One of another policy's mechanism changes nothing; of none, an Error."""
    own, others = {k.name for k in policy.keys}, {k.name for p in all_policies for k in p.keys}
    of_policy = {key: value for key, value in keys.items() if key in own}
    of_machine = {key: value for key, value in keys.items() if key not in others}
    return machine.changed(of_machine), policy.changed(of_policy)


from ._studies import (Analysis, analyze, check, compare, machines, mappings, network, objects,  # noqa: E402
                       policies, probe, sharing, workloads)
