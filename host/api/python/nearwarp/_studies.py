"""The catalogue, analyses of programs, comparisons and studies of parts, as tables.

All but machines(), policies() and workloads() keep in a table's attrs what the command line prints ("text") and writes
as JSON ("document", a dict).
"""

from __future__ import annotations

import json
import os
import typing as t

from . import _core
from ._configurations import Machine, Policy, as_a
from ._core import Result
from ._programs import Program, program_of
from ._progress import ActivityBar, OfActivity, shown
from ._values import command_of, path_of, text, threads_of

if t.TYPE_CHECKING:
    import pandas  # type: ignore[import]

_Path = t.Union[str, os.PathLike]


def _table(found: dict[str, t.Any], columns: t.Sequence[str], rows: str = "rows") -> pandas.DataFrame:
    import pandas
    table = pandas.DataFrame(found[rows], columns=list(columns))
    table.attrs.update(text=found["text"], document=json.loads(found["document"]))
    return table


def _looked(look: t.Callable[[t.Any], dict[str, t.Any]], columns: t.Sequence[str],
            progress: OfActivity = None) -> pandas.DataFrame:
    """The table of the findings of look(told); `told` is the function that it has to call with its progress."""
    import pandas  # noqa: F401 - now, and not once all has been simulated
    with shown(progress, ActivityBar) as told:
        found = look(told)
    return _table(found, columns)


def _executed(program, progress):
    import pandas  # noqa: F401 - now, and not once a program has been executed
    return program_of(program, progress)._core


def _catalogue(kind, columns):
    import pandas
    return pandas.DataFrame(_core.catalogue(kind), columns=["name", *columns]).set_index("name")


def machines() -> pandas.DataFrame:
    """The available machines, by name: description, and error (why one cannot be loaded, else None)."""
    return _catalogue("machines", ["description", "error"])


def policies() -> pandas.DataFrame:
    """The available policies, by name: description, and error (why one cannot be loaded, else None)."""
    return _catalogue("policies", ["description", "error"])


def workloads() -> pandas.DataFrame:
    """Programs that come with nearwarp, by name: description, source (suite or paper) and parameters.

    parameters: a dict of what the name may set, {"batch": "1 to 64"} for "decode-step:batch=8". Each is there without
    unrolled loops, too, mostly: "NAME-rolled".
    """
    return _catalogue("workloads", ["description", "source", "parameters"])


class Analysis:
    """The findings of analyze(). str() of it is what `nearwarp analyze` prints."""

    def __init__(self, found: dict[str, t.Any]) -> None:
        self._found = found

    @property
    def candidates(self) -> pandas.DataFrame:
        """Code that would be offloaded: kernel, id, kind, source ("file.cu:41-57"), lines of PTX, what a lane's
        registers take (bytes), loads and stores, trip, iterations, tx_addresses and rx_addresses (how many addresses
        more the links transfer) and condition."""
        return _table(self._found, ["kernel", "id", "kind", "source", "first_ptx_line", "last_ptx_line",
                                    "live_in_bytes", "live_out_bytes", "loads", "stores", "trip", "iterations",
                                    "tx_addresses", "rx_addresses", "condition"], "candidates")

    @property
    def refusals(self) -> pandas.DataFrame:
        """Code that would not be offloaded: kernel, kind, source, lines of PTX, reason, and detail where equations
        decided."""
        return _table(self._found, ["kernel", "kind", "source", "first_ptx_line", "last_ptx_line", "reason",
                                    "detail"], "refusals")

    @property
    def document(self) -> dict[str, t.Any]:
        """All of it, as `nearwarp analyze --json` writes it (docs/json.md)."""
        return json.loads(self._found["document"])

    def __str__(self) -> str:
        return self._found["text"]

    def __repr__(self) -> str:
        return (f"nearwarp.Analysis({len(self._found['candidates'])} candidates, "
                f"{len(self._found['refusals'])} refusals)")


def analyze(program: Program | _Path, machine: Machine | _Path = "tom", policy: Policy | _Path = "ndp-controlled-bmap", *,
            kernel: str = "") -> Analysis:
    """Which code would be offloaded, and why the rest would not; nothing is simulated.

    program: a workload's name or a file of PTX, or a Program, such as an application's. kernel: only this one.
    """
    code = program._core if isinstance(program, Program) else path_of(program)
    return Analysis(_core.analyze(code, as_a(Machine, machine)._core,
                                  as_a(Policy, policy)._core, kernel))


def mappings(program: Program | _Path, machine: Machine | _Path = "tom",
             policy: Policy | _Path = "ndp-controlled-bmap", *, progress: OfActivity = None) -> pandas.DataFrame:
    """How well mappings of lines to memory stacks would serve a program's offloading candidates, without time.

    A row for the machine's own (first_bit 0) and for consecutive bits of the address from first_bit on:
    at_destination, the share of accesses to their instance's stack, and one_stack, that of instances all of whose
    accesses go to one. progress: a function of what is done, how much, of how much; False stops. True for a bar.
    """
    executed = _executed(program, progress)
    return _looked(lambda told: _core.mappings(executed, as_a(Machine, machine)._core,
                                               as_a(Policy, policy)._core, told),
                   ["first_bit", "at_destination", "one_stack"], progress)


def sharing(program: Program | _Path, machine: Machine | _Path = "coda", *,
            progress: OfActivity = None) -> pandas.DataFrame:
    """How many of a program's pages so many thread blocks touch, and so many stacks: by, count and pages."""
    executed = _executed(program, progress)
    return _looked(lambda told: _core.sharing(executed, as_a(Machine, machine)._core, told),
                   ["by", "count", "pages"], progress)


def objects(program: Program | _Path, machine: Machine | _Path = "coda", policy: Policy | _Path = "coda", *,
            progress: OfActivity = None) -> pandas.DataFrame:
    """Where CODA's rules put a program's memory objects.

    name, address, bytes, accesses (of lanes), block_bytes (from one thread block's part to the next one's; 0: none),
    local (accesses to the block's own stack, were it in stacks so), by_distance and by_share: the rules put it there.
    """
    executed = _executed(program, progress)
    return _looked(lambda told: _core.objects(executed, as_a(Machine, machine)._core,
                                              as_a(Policy, policy)._core, told),
                   ["name", "address", "bytes", "accesses", "block_bytes", "local", "by_distance", "by_share"], progress)


def _compared(one):
    """The path of a file of results, or results."""
    if isinstance(one, (str, os.PathLike)):
        return path_of(one)
    return [one] if isinstance(one, _core.Result) else list(one)


def compare(a: Result | t.Sequence[Result] | _Path, b: Result | t.Sequence[Result] | _Path) -> pandas.DataFrame:
    """The differences between results: those of run(), or two files of `nearwarp run --json`, sweeps and experiments.

    A row a value that differs: run, value, unit, before (of a), after (of b), change (after / before - 1) and weight
    (the change over the largest value of its unit); cycles, IPC, energy and traffic first, then by weight.
    """
    found = _core.compare(_compared(a), _compared(b))
    return _table(found, ["run", "value", "unit", "before", "after", "change", "weight"])


def probe(machine: Machine | _Path, *, threads: int = 0, progress: OfActivity = None) -> pandas.DataFrame:
    """A machine's unloaded latencies and the bandwidths that it reaches, measured by small programs (docs/probe.md).

    section, name, core_cycles and nanoseconds of latencies, gigabytes_per_second (10^9) of bandwidths with bound
    (what the narrowest part of the way carries) and bound_by (that part), and as_meant, the share of accesses that
    went where the name says. threads: runs at a time; 0: all processors. progress: as of mappings().
    """
    return _looked(lambda told: _core.probe(as_a(Machine, machine)._core, threads_of(threads), told),
                   ["section", "name", "core_cycles", "nanoseconds", "gigabytes_per_second", "bound", "bound_by",
                    "as_meant"], progress)


def check(program: str | t.Sequence[_Path], size: str = "small", *, kernels: str = "",
          machine: Machine | _Path = "tom", progress: OfActivity = None) -> pandas.DataFrame:
    """Races, misused barriers and masks, reads of memory that nobody wrote, memory errors: a row each (docs/check.md).

    program: a workload's name, or an application, ["./app", "its", "arguments"], which takes the GPU for `machine`.
    kernels: a regular expression; only kernels with a match are looked at. progress: of a workload, as of mappings();
    an application shows itself. An empty table: all is well.
    """
    columns = ["program", "kind", "what", "kernel", "at", "ptx", "earlier", "place", "count"]
    if isinstance(program, str):
        name: str = program
        return _looked(lambda told: _core.check_workload(name, text("size", size), kernels, told), columns, progress)
    return _looked(lambda _: _core.check_application(command_of(program),
                                                     as_a(Machine, machine)._core, kernels), columns)


_NETWORK_OPTIONS = {"topology", "size", "routing", "vcs", "vnets", "buffers", "routing_delay", "vc_alloc_delay",
                    "sw_alloc_delay", "traversal_delay", "credit_delay", "speedup", "input_speedup",
                    "wait_for_tail_credit", "link_latency", "traffic", "hot_nodes", "hot_share", "packet_flits",
                    "reply_flits", "seed", "period_cycles", "max_periods", "latency_limit", "threads"}


def network(loads: t.Sequence[float] = (), *, progress: OfActivity = None, **options) -> pandas.DataFrame:
    """A network by itself, latency against load (docs/networks.md).

    loads: flits per sending node and cycle; without them, ten up to what the channels carry. options, as those of
    `nearwarp noc`: topology ("mesh", "crossbar", "butterfly", "full"), size ("8x8"), routing, vcs, vnets, buffers,
    routing_delay, vc_alloc_delay, sw_alloc_delay, traversal_delay, credit_delay, speedup, input_speedup,
    wait_for_tail_credit, link_latency, traffic ("uniform", "hotspot", "transpose", "many-to-few"), hot_nodes,
    hot_share, packet_flits, reply_flits, seed, period_cycles, max_periods, latency_limit, threads.

    A row a load: load, stable, accepted, latency (mean, cycles), latency_error (half of its 95 % interval),
    network_latency, hops, max_latency, packets and why (it is not stable).
    """
    for name in options:
        if name not in _NETWORK_OPTIONS:
            raise TypeError(f"no option {name!r} - there are {', '.join(sorted(_NETWORK_OPTIONS))}")
    return _looked(lambda told: _core.network(told, loads=[float(load) for load in loads], **options),
                   ["load", "stable", "accepted", "latency", "latency_error", "network_latency", "hops", "max_latency",
                    "packets", "why"], progress)
