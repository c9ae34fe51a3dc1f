"""Lines of sweeps' results (docs/sweep.md), as rows of tables."""

from __future__ import annotations

import difflib
import glob
import json
import os
import typing as t

from ._core import Error

_SCHEMA = "nearwarp.sweep/2"
_BEGINNING = b'{"schema":"nearwarp.sweep/2"'
# Columns of a point's numbers, but for its speed-up.
NUMBERS = ["status", "cycles", "ipc", "gpu_to_memory_bytes", "memory_to_gpu_bytes", "memory_to_memory_bytes",
           "energy_joules", "cycles_error", "approximated"]


class Line(t.NamedTuple):
    """A line of results: a point, and its numbers."""

    id: str
    at: int  # its index in the sweep
    place: dict[str, t.Any]  # program, size, machine, policy
    values: dict[str, t.Any]  # of keys
    numbers: dict[str, t.Any]  # status, error, and NUMBERS if it has not failed
    counters: dict[str, int]


def error_of(what: str, right: str, file: t.Optional[str] = None, line: t.Optional[int] = None) -> Error:
    """An Error with all of its parts."""
    error = Error(f"{what} - {right}")
    error.what, error.right, error.file, error.line = what, right, file, line
    return error


def _numbers(line: dict[str, t.Any]) -> dict[str, t.Any]:
    if "error" in line:
        return {"status": "failed", "error": line["error"]}
    run = line["run"]
    launches = run.get("launches", {})
    return {"status": run["status"], "cycles": run["cycles"], "ipc": run["ipc"],
            **{name: run["traffic"][name] for name in NUMBERS if name.endswith("_bytes")},
            "energy_joules": run["energy"]["total_joules"] if "energy" in run else None,
            "cycles_error": launches["sample"]["error"] if "sample" in launches else None,
            "approximated": "; ".join(launches.get("approximated", ())) or None, "error": None}


def parsed(text: str | bytes) -> Line:
    """Reads a line. Throws KeyError, TypeError or ValueError for a text that is no line of a sweep's results."""
    line = json.loads(text)
    if line["schema"] != _SCHEMA:
        raise ValueError(f"schema {line['schema']!r}, where this version reads {_SCHEMA!r}")
    return Line(line["id"], line["index"],
                {"program": line["workload"], "size": line["size"], "machine": line["machine"],
                 "policy": line["policy"]}, line["overrides"], _numbers(line),
                {name: counter["value"] for name, counter in line.get("run", {}).get("counters", {}).items()})


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"it has no {error.args[0]!r}"
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at column {error.colno}"
    if isinstance(error, (TypeError, AttributeError)):
        return "what it has is of other types"
    return str(error)


def _lines_of(path: str) -> t.Iterator[Line]:
    try:
        with open(path, "rb") as stream:
            for number, text in enumerate(stream, 1):
                if not text.endswith(b"\n") and text[:len(_BEGINNING)] == _BEGINNING[:len(text)]:
                    return  # it is being written
                try:
                    line = parsed(text)
                except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
                    raise error_of(f"{path}:{number} is no line of a sweep's results: {_reason(error)}",
                                   "mend or remove it", path, number) from None
                yield line
    except OSError as error:
        right = "run() makes it" if isinstance(error, FileNotFoundError) else "is it a readable file?"
        raise error_of(f"cannot read '{path}': {error.strerror}", right, path) from None


def lines_by_id(out: str) -> dict[str, Line]:
    """The lines of a results' file, or of a folder's files."""
    paths = sorted(glob.glob(os.path.join(glob.escape(out), "sweep*.jsonl"))) if os.path.isdir(out) else [out]
    lines: dict[str, Line] = {}
    for line in (line for path in paths for line in _lines_of(path)):
        if line.id not in lines or line.numbers["status"] != "failed":
            lines[line.id] = line
    return lines


def check_counters(of_runs: t.Iterable[str], names: t.Sequence[str]) -> None:
    """Throws an Error for a name that no run has, if there are runs. `of_runs`: names of the runs' counters, of which no
    more are read than necessary."""
    known: set[str] = set()
    missing = set(names)
    for name in of_runs if missing else ():
        known.add(name)
        missing.discard(name)
        if not missing:
            return
    for name in names:
        if known and name in missing:
            like = difflib.get_close_matches(name, known, 1)
            raise error_of(f"no run has a counter '{name}'",
                           f"did you mean '{like[0]}'?" if like else "see Result.counters for what there is")
