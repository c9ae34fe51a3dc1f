"""How far a simulated GPU is from a real one: two files of the schema nearwarp.hardware/1 beside each other.

Of a probe its value is compared, in cycles where it is a time; of a program the cycles of all launches.
"""
import html
import math

from hardware_file import CLASSES, ROLES, Damaged


def _value(program):
    """What is compared of a program, and its unit; None where it failed or has nothing."""
    if not program["right"]:
        return None
    if program["class"] == "probe":
        probe = program.get("probe")
        if not probe:
            return None
        return (probe["cycles"], "cycles") if "cycles" in probe else (probe["value"], probe["unit"])
    cycles = sum(kernel["launches"] * kernel["cycles"] for kernel in program["kernels"])
    return (cycles, "cycles") if cycles > 0 else None


def pairs(measured, simulated):
    """(class, role, name, unit, measured, simulated) of what both have; and the names of what one lacks."""
    if not measured["hardware"]:
        raise Damaged("the first file is not of a real GPU")
    if simulated["hardware"]:
        raise Damaged("the second file is not of the simulated GPU")
    ours = {(p["executable"], p["arguments"]): _value(p) for p in simulated["programs"]}
    found, missing = [], []
    for program in measured["programs"]:
        key = (program["executable"], program["arguments"])
        name, theirs, own = " ".join(key).strip(), _value(program), ours.get(key)
        if theirs is None or own is None or theirs[1] != own[1] or theirs[0] <= 0 or own[0] <= 0:
            missing.append(name)
        else:
            found.append((program["class"], program["role"], name, theirs[1], theirs[0], own[0]))
    return found, missing


def correlation(rows):
    """Of logarithms of cycles; None of fewer than three."""
    points = [(math.log(r[4]), math.log(r[5])) for r in rows if r[3] == "cycles"]
    if len(points) < 3:
        return None
    mx, my = (sum(p[i] for p in points) / len(points) for i in (0, 1))
    xy = sum((x - mx) * (y - my) for x, y in points)
    xx, yy = sum((x - mx) ** 2 for x, _ in points), sum((y - my) ** 2 for _, y in points)
    return None if xx == 0 or yy == 0 else xy / math.sqrt(xx * yy)


def error(row):
    return row[5] / row[4] - 1


def summary(rows):
    """(what, numbers, mean absolute error, largest, correlation) by class and role, and of all that only check."""
    groups = [(f"{c}, {r}", [x for x in rows if x[:2] == (c, r)]) for c in CLASSES for r in ROLES]
    groups.append(("programs that only check", [x for x in rows if x[0] != "probe" and x[1] == "check"]))
    return [(name, len(g), sum(abs(error(x)) for x in g) / len(g), max(abs(error(x)) for x in g), correlation(g))
            for name, g in groups if g]


def text(rows, missing, measured, simulated):
    lines = [f"{measured['device']}, driver {measured['driver']}, {measured['date']}; {simulated['device']}", ""]
    lines += [f"{'':44}{'role':6}{'measured':>14}{'simulated':>14}{'error':>8}"]
    lines += [f"{f'{n} [{u}]':44}{r:6}{m:14,.1f}{s:14,.1f}{error((c, r, n, u, m, s)):+8.0%}"
              for c, r, n, u, m, s in rows]
    lines += ["", f"{'':30}{'numbers':>8}{'mean absolute error':>21}{'largest':>9}{'correlation':>13}"]
    lines += [f"{w:30}{n:8}{mean:21.1%}{most:9.1%}{'-' if k is None else format(k, '.3f'):>13}"
              for w, n, mean, most, k in summary(rows)]
    if missing:
        lines += ["", "not compared: " + ", ".join(missing)]
    return "\n".join(lines) + "\n"


def page(rows, missing, measured, simulated):
    """A page with the tables and a scatter of cycles, both axes by logarithms."""
    points = [r for r in rows if r[3] == "cycles"]
    logs = [math.log10(v) for r in points for v in r[4:6]] or [0, 1]
    least, size = math.floor(min(logs)), 480
    span = max(math.ceil(max(logs)) - least, 1)
    at = lambda v: (math.log10(v) - least) / span * size  # noqa: E731
    marks = "".join(
        f'<circle cx="{at(m):.1f}" cy="{size - at(s):.1f}" r="4" fill="{"#c33" if r == "check" else "#36c"}">'
        f"<title>{html.escape(n)}: {m:,.0f} measured, {s:,.0f} simulated</title></circle>"
        for _, r, n, _, m, s in points)
    return ("<!doctype html><meta charset=utf-8><title>Measured and simulated</title>"
            f"<pre>{html.escape(text(rows, missing, measured, simulated))}</pre>"
            f"<p>Cycles measured (across) and simulated (up), 10^{least} to 10^{least + span}; red: programs that "
            f'only check.</p><svg width="{size}" height="{size}" style="border:1px solid #888">'
            f'<line x1="0" y1="{size}" x2="{size}" y2="0" stroke="#888"/>{marks}</svg>\n')
