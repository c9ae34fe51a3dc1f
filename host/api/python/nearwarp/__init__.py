"""nearwarp: a cycle-level simulator of GPUs with near-data processing.

>>> import nearwarp as nw
>>> kmeans = nw.Program.workload("kmeans")
>>> result = nw.run(kmeans, "tom", "tom")
>>> result.cycles, result.counter("sm.l1.read_hits")
>>> nw.sweep([kmeans], "tom", ["baseline", "tom"],
...          {"links.gpu_to_memory_mbps": [40000, 80000]})       # a pandas.DataFrame
>>> nw.Sweep("kmeans", "tom", ["baseline", "tom"]).run("points.jsonl")  # the same, kept in a file
>>> nw.Experiment("tom", only=["speedup"]).run()                # a paper's studies, figures and report

Results are those of the command line, to the bit. Whatever takes long lets other threads of Python run,
and Ctrl-C ends it. What goes wrong is a nearwarp.Error, which says what would be right.
"""

from __future__ import annotations

from ._configurations import Machine, Policy
from ._core import (Counter, Error, ExperimentOutcome, Figure, Key, Launch, LaunchResult, Progress, Result, Study,
                    SweepOutcome, SweepProgress, version)
from ._device import Device
from ._names import experiment_names, machine_names, policy_names, workload_names
from ._points import sweep
from ._programs import Program
from ._simulations import Simulation, follow, run, table
from ._studies import (Analysis, analyze, check, compare, machines, mappings, network, objects, policies, probe, sharing,
                       workloads)
from ._sweeps import Experiment, Report, Sweep

__all__ = ["Analysis", "Counter", "Device", "Error", "Experiment", "ExperimentOutcome", "Figure", "Key", "Launch",
           "LaunchResult", "Machine", "Policy", "Program", "Progress", "Report", "Result", "Simulation", "Study", "Sweep",
           "SweepOutcome", "SweepProgress", "analyze", "check", "compare", "experiment_names", "follow", "machine_names",
           "machines", "mappings", "network", "objects", "policies", "policy_names", "probe", "run", "sharing", "sweep",
           "table", "version", "workload_names", "workloads"]
__version__ = version()
