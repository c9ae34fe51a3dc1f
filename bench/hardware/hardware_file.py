"""Measurements of a real GPU as one file: what is read from tools, and what is written.

The file is JSON of the schema nearwarp.hardware/1 (docs/hopper.md). "hardware" is true only where a real
GPU was measured.
"""
import csv
import io
import json
import re
import statistics

SCHEMA = "nearwarp.hardware/1"
ROLES = ("set", "check")
CLASSES = ("probe", "reference", "workload")

# Nsight Compute is asked for these, and the file has them under the names beside them.
METRICS = {
    "sm__cycles_elapsed.max": "cycles",
    "lts__t_bytes.sum": "l2_bytes",
    "dram__bytes.sum": "dram_bytes",
    "smsp__inst_executed.sum": "warp_instructions",
    "sm__inst_executed.avg.per_cycle_elapsed": "ipc_of_an_sm",
}
_SCALES = {"": 1, "byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "cycle": 1, "inst": 1,
           "inst/cycle": 1, "Kcycle": 1e3, "Mcycle": 1e6, "Kinst": 1e3, "Minst": 1e6}


class Damaged(Exception):
    """A file or a tool's output that is not what it should be: what, and where."""


def read_programs(text, path="programs.tsv"):
    """The lines of programs.tsv, as dictionaries."""
    rows, head = [], None
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        cells = line.split("\t")
        if head is None:
            head = cells
            continue
        if len(cells) != 4:
            raise Damaged(f"{path}:{number}: {len(cells)} cells - a line has 4")
        row = dict(zip(("executable", "arguments", "class", "role"), cells))
        if row["class"] not in CLASSES or row["role"] not in ROLES:
            raise Damaged(f"{path}:{number}: class '{row['class']}', role '{row['role']}' - classes "
                          f"are {', '.join(CLASSES)}, roles {', '.join(ROLES)}")
        rows.append(row)
    return rows


def read_launch_times(text, path="launch times"):
    """The lines that launch_times.cpp writes, a dictionary for each launch."""
    launches = []
    for number, line in enumerate(text.splitlines(), 1):
        cells = line.split("\t")
        try:
            kernel, grid, block, shared, nanoseconds = cells
            launches.append({"kernel": kernel, "grid": [int(n) for n in grid.split(",")],
                             "block": [int(n) for n in block.split(",")],
                             "shared_bytes": int(shared), "nanoseconds": float(nanoseconds)})
        except ValueError:
            raise Damaged(f"{path}:{number}: '{line}' - kernel, grid, block, shared memory and "
                          "nanoseconds, separated by tabs") from None
    return launches


def kernels_of(launches, sm_mhz):
    """Launches that are alike together: the median of their times, and cycles by the clock."""
    alike = {}
    for launch in launches:
        key = (launch["kernel"], tuple(launch["grid"]), tuple(launch["block"]))
        alike.setdefault(key, []).append(launch)
    kernels = []
    for (kernel, grid, block), same in alike.items():
        nanoseconds = statistics.median(one["nanoseconds"] for one in same)
        kernels.append({"kernel": kernel, "grid": list(grid), "block": list(block),
                        "shared_bytes": same[0]["shared_bytes"], "launches": len(same),
                        "nanoseconds": round(nanoseconds, 1),
                        "cycles": round(nanoseconds * sm_mhz / 1e3)})
    return kernels


def _number(text, unit):
    value = float(text.replace(",", ""))
    if unit not in _SCALES:
        raise Damaged(f"unit '{unit}' of Nsight Compute is not known")
    return value * _SCALES[unit]


def read_ncu(text):
    """`ncu --csv --page raw --metrics ...`: what METRICS names, a dictionary for each launch."""
    lines = text.splitlines()
    begin = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if begin is None:
        raise Damaged("no table in the output of Nsight Compute - it begins with \"ID\"")
    rows = list(csv.reader(io.StringIO("\n".join(lines[begin:]))))
    head, units, body = rows[0], rows[1] if len(rows) > 1 else [], rows[2:]
    if len(units) != len(head) or "Kernel Name" not in head:
        raise Damaged("the table of Nsight Compute has no line of units as long as its head")
    name = head.index("Kernel Name")
    launches = []
    for row in body:
        if len(row) != len(head):
            continue  # what ncu says behind its table
        launch = {"kernel": row[name]}
        for metric, key in METRICS.items():
            if metric in head and row[head.index(metric)] not in ("", "n/a"):
                at = head.index(metric)
                launch[key] = _number(row[at], units[at])
        launches.append(launch)
    return launches


def read_probe(text):
    """The value and unit that a probe printed, or None."""
    found = re.search(r"^PROBE (\S+) ([0-9.]+) (\S+)$", text, re.MULTILINE)
    return None if found is None else {"value": float(found[2]), "unit": found[3]}


def with_cycles(probe, sm_mhz):
    """A probe, with a time in cycles of the SMs' clock, too."""
    if probe["unit"] != "ns":
        return probe
    return dict(probe, cycles=round(probe["value"] * sm_mhz / 1e3, 3))


def check_clocks(before, after):
    """Refuses a clock of the SMs (MHz) that was another one after the measurements than before them."""
    if abs(after - before) > 0.01 * before:
        raise Damaged(f"the SMs' clock was {before:g} MHz before the measurements and {after:g} MHz after them, "
                      "more than 1 % apart: no file is written - measure on a GPU that nothing else runs on, "
                      "or have its clock locked")


def document(machine, programs):
    """The file. `machine`: hardware, device, driver, cuda, date, sm_mhz and, of counters, ncu."""
    return json.dumps({"schema": SCHEMA, **machine, "programs": programs}, indent=1) + "\n"


def read_document(text, path="file"):
    """The file's object, checked."""
    try:
        whole = json.loads(text)
    except ValueError as error:
        raise Damaged(f"{path}: {error}") from None
    if not isinstance(whole, dict) or whole.get("schema") != SCHEMA:
        raise Damaged(f"{path}: no file of schema {SCHEMA}")
    for key in ("hardware", "device", "driver", "date", "sm_mhz", "programs"):
        if key not in whole:
            raise Damaged(f"{path}: '{key}' is missing")
    for program in whole["programs"]:
        for key in ("executable", "arguments", "class", "role", "right", "kernels"):
            if key not in program:
                raise Damaged(f"{path}: '{key}' of a program is missing")
    return whole
