"""Sweeps over objects, whose results stay in memory; those that keep them in files are in _sweeps.py."""

from __future__ import annotations

import itertools
import typing as t

if t.TYPE_CHECKING:
    import pandas  # type: ignore[import]

from . import _core
from ._configurations import Machine, Policy, as_a
from ._core import Error
from ._lines import check_counters
from ._programs import program_of
from ._progress import OfRun, shown, teller
from ._values import many_of, names_of, text, threads_of, varied, whole


def sweep(programs, machines, policies, keys: t.Optional[dict[str, t.Any]] = None, *,
          counters: str | t.Iterable[str] = (), threads: int = 0, backend: str = "cpu", device: int = 0,
          launches: str = "", sample: str | float = "", cold_caches: bool = False,
          progress: OfRun = None) -> pandas.DataFrame:
    """All combinations side by side: a pandas.DataFrame with a row for each.

    programs, machines, policies: one or several. keys: {"a.key": [values, ...], ...} of machines or
    policies, varied against each other. counters: names of counters that become columns, empty for a run that has
    none of that name; the module logging's logger nearwarp is told beforehand of one that no run begins with. threads: 0
    for one for each processor. launches, sample, cold_caches: as of run(). progress: a function of a Progress, or True for a
    bar that says how far it is, in notebooks and on terminals.

    Columns: program, machine, policy, a column for each key, status ("complete", "partial" where progress has stopped
    it, or "failed"), cycles, ipc, speedup (over the first policy, where both are complete), bytes by class of link,
    energy_joules, the counters, error (None, or why a point has no result) and result (a Result).
    """
    import pandas
    names = names_of(counters)
    programs = [program_of(p, progress) for p in many_of(programs)]
    machines = [as_a(Machine, m) for m in many_of(machines)]
    policies = [as_a(Policy, p) for p in many_of(policies)]
    keys = varied(keys)
    rows: list[dict[str, t.Any]] = []
    points: list[tuple[int, tuple[_core.Program, _core.Machine, _core.Policy]]] = []
    for program, machine in itertools.product(programs, machines):
        for values in itertools.product(*keys.values()):
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
        check_counters(_counters_of(point for _, point in points), names)
    except Error as error:  # some counters are there once they count, and results are not thrown away for a name
        teller(None)(f"{error.what} when it begins - {error.right}")
    with shown(progress) as told:
        results = _core.run_all([_core.Point(*point) for _, point in points], threads=threads_of(threads),
                                backend=text("backend", backend), device=whole("device", device, 0, 2**31 - 1),
                                launches=text("launches", launches or ""), sample=str(sample),
                                cold_caches=cold_caches, progress=told, tell=teller(None))
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
    """Names of the counters that points have when their runs begin; none for points that cannot run."""
    for point in points:
        try:
            yield from [counter.name for counter in _core.Simulation(*point).result.counters]
        except Error:
            pass  # its row will say so


def _with_keys(machine, policy, keys, all_policies):
    """Machine and policy, changed by the keys that each has. A key that only another policy has changes nothing; a key that
    neither the machine nor any policy has is an Error."""
    own, others = {k.name for k in policy.keys}, {k.name for p in all_policies for k in p.keys}
    of_policy = {key: value for key, value in keys.items() if key in own}
    of_machine = {key: value for key, value in keys.items() if key not in others}
    return machine.changed(of_machine), policy.changed(of_policy)
