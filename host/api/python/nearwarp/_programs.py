"""Programs that have been executed: workloads, recordings, traces and applications."""

from __future__ import annotations

import os
import typing as t

from . import _core
from ._configurations import Machine, as_a
from ._core import Launch
from ._progress import ActivityBar, OfActivity, Tell, shown, teller
from ._values import command_of, path_of, text


_APPLICATION_OPTIONS = {"kernels", "max_thread_instructions", "max_trace_bytes", "registers", "interleave",
                        "execute_most", "time_limit_seconds", "devices", "strict_bounds", "output",
                        "max_repeats", "cache", "simulated_events", "tell"}


def _application(command, machine):
    return command_of(command), as_a(Machine, machine)._core


def _chosen(options):
    for name in options:
        if name not in _APPLICATION_OPTIONS:
            raise TypeError(f"no option {name!r} - there are {', '.join(sorted(_APPLICATION_OPTIONS))}")
    options = {"tell": teller(None), **options}
    return {name: path_of(value) if name in ("output", "cache") else value for name, value in options.items()}


class Program:
    """A program that has been executed and can be simulated."""

    def __init__(self, core):
        if not isinstance(core, _core.Program):
            raise TypeError(f"nearwarp.Program({core!r}) - load(), workload(), recording() and application() make programs")
        self._core = core

    @classmethod
    def load(cls, names: str | os.PathLike, size: str = "small", max_repeats: int = 0,
             cache: str | os.PathLike = "", *, progress: OfActivity = None, tell: Tell = None) -> Program:
        """By name as `nearwarp run` takes it: a workload, which is executed, a recording (.nwtrace) or traces
        (kernelslist.g); "kmeans@0" and "kmeans@1-3" keep to memory stacks; "kmeans+libor" run at the same time.

        size and max_repeats: as of workload(). cache: a folder where programs that have been executed or read
        are kept and used again. progress: a function of what is done, how much, and of how much (0: not known),
        called some times a second while it is executed or read; False stops. True for a bar. tell: a function that
        is told what is worth knowing, such as what traces lack (else the module logging's logger nearwarp is).
        """
        with shown(progress, ActivityBar) as asked:
            return cls(_core.Program.load(path_of(names), text("size", size), max_repeats=max_repeats, cache=path_of(cache),
                                          progress=asked, tell=teller(tell)))

    @classmethod
    def workload(cls, name: str, size: str = "small", max_repeats: int = 0, *,
                 progress: OfActivity = None) -> Program:
        """Execute one of workload_names() and check its result.

        size: "small", "medium", "large" or "paper". max_repeats: of launches that are the same, only
        the first so many are simulated, and stand for the others; 0: all. progress: as of load().
        """
        with shown(progress, ActivityBar) as asked:
            return cls(_core.Program.workload(text("name", name), text("size", size), max_repeats=max_repeats, progress=asked))

    @classmethod
    def recording(cls, path: str | os.PathLike, max_repeats: int = 0, *, progress: OfActivity = None,
                  tell: Tell = None) -> Program:
        """A file that `nearwarp record` or save() has written, or Accel-Sim's kernelslist.g. Arguments as of load()."""
        with shown(progress, ActivityBar) as asked:
            return cls(_core.Program.recording(path_of(path), max_repeats=max_repeats, progress=asked,
                                               tell=teller(tell)))

    @classmethod
    def application(cls, command: t.Sequence[str], machine: Machine | str = "tom", **options) -> Program:
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
    def processes(cls, command: t.Sequence[str], machine: Machine | str = "tom", **options) -> list[Program]:
        """As application(), of one that has several processes which use the GPU: a Program of each."""
        return [cls(core) for core in
                _core.Program.processes(*_application(command, machine), **_chosen(options))]

    def save(self, path: str | os.PathLike) -> None:
        """Keep it as a recording (.nwtrace), which the command line reads, too."""
        self._core.save(path_of(path))

    @property
    def name(self) -> str:
        """The name of the workload, the recording or the application."""
        return self._core.name

    @property
    def size(self) -> str:
        """The size of a workload; else empty."""
        return self._core.size

    @property
    def warp_instructions(self) -> int:
        """Warp-instructions executed in all launches."""
        return self._core.warp_instructions

    @property
    def thread_instructions(self) -> int:
        """Thread-instructions executed in all launches."""
        return self._core.thread_instructions

    @property
    def launches(self) -> list[Launch]:
        """Launch objects: kernel, warp_instructions, thread_instructions."""
        return self._core.launches

    @property
    def truncated(self) -> bool:
        """Whether only a part of it was recorded."""
        return self._core.truncated

    def __repr__(self):
        return (f"nearwarp.Program({self.name!r}, {self.warp_instructions} warp-instructions in "
                f"{len(self.launches)} launches)")


def program_of(one, progress=None):
    """The program of a name or a path, or the Program itself. `progress`: that of the work that needs the program; a bar
    shows the program's execution, too."""
    if not isinstance(one, (Program, str, bytes, os.PathLike)):
        raise TypeError(f"{one!r} is no program - give a nearwarp.Program, or the name or path of one")
    return one if isinstance(one, Program) else Program.load(one, progress=progress is True)
