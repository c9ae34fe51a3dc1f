"""A sweep that keeps its results in a file: stopped here at the third point, it goes on where it was."""

import nearwarp as nw

sweep = nw.Sweep(["vector-add", "axpy"], "tom", ["baseline", "ndp-ideal"],
                 {"links.gpu_to_memory_mbps": [40000, 80000]})


def show(table):
    last = table.iloc[-1]
    print(f"{len(table)} have ended, the last one {last.program} under {last.policy}: {last.cycles} cycles")


first = sweep.run("points.jsonl", threads=1, progress=lambda p: p.points_done < 3, finished=show)
print(f"stopped: {first.finished} of {first.points} points")
rest = sweep.run("points.jsonl", finished=show)
print(f"{rest.already_there} were there, {rest.finished} ran now")
print(sweep.table("points.jsonl")[["program", "policy", "links.gpu_to_memory_mbps", "cycles", "speedup"]]
      .round(3).to_string(index=False))
