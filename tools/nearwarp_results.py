#!/usr/bin/env python3
"""Reads what nearwarp writes: documents of run, noc and dram (--json), results of sweeps.

    import nearwarp_results as results
    frame = results.table("libor.json")                      # a pandas.DataFrame
    frame = results.table("study/", "run.cycles", "overrides.l2.bytes")
    rows = results.rows("noc.json")                          # a list of dicts, without pandas

A row per run, point of a sweep, or load; a column per number or text, named by the members of the
document joined by dots ("traffic.gpu_to_memory_bytes", "counters.l2.read_misses": a counter is its
value). Lists are left out (kernels, candidates, links); member() makes tables of them.

    python3 tools/nearwarp_results.py FILE... [--columns A,B,...] [--of kernel_totals]   # CSV

Standard library alone; pandas where table() is called. docs/json.md says what the members are.
"""

import argparse
import csv
import json
import pathlib
import sys

# The member of each kind of document that has its rows.
_ROWS = {"nearwarp.run": "runs", "nearwarp.noc": "points", "nearwarp.dram": "runs"}


def documents(path):
    """The JSON documents of a file (one, or one per line) or of a sweep's folder."""
    path = pathlib.Path(path)
    if path.is_dir():
        files = sorted(path.glob("*.jsonl"))
        if not files:
            raise ValueError(f"{path} has no results of a sweep - name a folder with *.jsonl, or a file")
        return [document for file in files for document in documents(file)]
    text = path.read_text(encoding="utf-8")
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        pass
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError as error:
            raise ValueError(f"{path}:{number} is no JSON - is the file cut off? ({error})") from None
    return found


def _members(document):
    """The objects of a document that make a row each."""
    schema = document.get("schema", "") if isinstance(document, dict) else ""
    kind = schema.partition("/")[0]
    if kind == "nearwarp.sweep":
        return [document]
    if kind in _ROWS and isinstance(document.get(_ROWS[kind]), list):
        return document[_ROWS[kind]]
    raise ValueError(f"a document of schema '{schema}' has no rows - those of "
                     "nearwarp run, sweep, noc and dram have")


def flat(value, prefix=""):
    """All numbers and texts within an object, by dotted name; lists are left out."""
    result = {}
    for name, member in value.items():
        key = prefix + name
        if isinstance(member, dict):
            if "value" in member and "unit" in member:
                result[key] = member["value"]
            else:
                result.update(flat(member, key + "."))
        elif not isinstance(member, list):
            result[key] = member
    return result


def rows(*paths):
    """A dict per run, point or load of all these files and folders, in their order."""
    return [flat(row) for path in paths for document in documents(path)
            for row in _members(document)]


def member(path, name):
    """A dict per element of a list that each row has: "kernel_totals", "candidates", "kernels", "links".
    Its first columns are the row's own: workload, policy, rate and the like."""
    result = []
    for document in documents(path):
        for row in _members(document):
            within = row.get("run", row)
            if not isinstance(within.get(name), list):
                raise ValueError(f"{path} has no '{name}' - its lists are: "
                                 + ", ".join(k for k, v in within.items() if isinstance(v, list)))
            head = {k: v for k, v in flat(row).items()
                    if k in ("workload", "size", "machine", "policy", "rate", "label")
                    or k.startswith("overrides.")}
            result += [{**head, **flat(element)} for element in within[name]]
    return result


def table(path, *columns):
    """rows() as a pandas.DataFrame; with `columns`, these alone."""
    import pandas
    frame = pandas.DataFrame(rows(path))
    return frame[list(columns)] if columns else frame


def write_csv(found, columns, out):
    names = columns or list(dict.fromkeys(name for row in found for name in row))
    for name in names:
        if not any(name in row for row in found):
            raise ValueError(f"there is no column '{name}'")
    writer = csv.DictWriter(out, names, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)


def main(words):
    parser = argparse.ArgumentParser(description="nearwarp's results as CSV")
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--columns", help="these alone, separated by commas")
    parser.add_argument("--of", metavar="LIST", help="rows of this list of each run, e.g. kernel_totals")
    options = parser.parse_args(words)
    try:
        found = ([row for file in options.files for row in member(file, options.of)] if options.of
                 else rows(*options.files))
        write_csv(found, options.columns.split(",") if options.columns else None, sys.stdout)
    except (OSError, ValueError) as error:
        print(f"nearwarp_results: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
