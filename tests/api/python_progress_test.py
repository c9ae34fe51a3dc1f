"""Does work from Python show how far it is, tell what is worth knowing, and stop when it is told to?

Called with the package's folder and the folder of the samples.
"""

import contextlib
import importlib.util
import io
import json
import logging
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import types
import unittest

PACKAGE, SAMPLES = map(os.path.abspath, sys.argv[1:3])
sys.path.insert(0, PACKAGE)
import nearwarp as nw  # noqa: E402

try:
    import pandas
except ImportError:
    pandas = None
needs_tables = unittest.skipIf(pandas is None, "no pandas")

SPIN = (pathlib.Path(__file__).parent / "spin.ptx").read_text()
FOREVER = 1 << 60


@contextlib.contextmanager
def notebook():
    """What bars show in a notebook's cells: a list of lists, one for each bar."""
    bars = []

    class Handle:
        def __init__(self):
            self.shown = []
            bars.append(self.shown)

        def update(self, html):
            self.shown.append(html)
    kernel, ipython, display = (types.ModuleType(n) for n in ("ipykernel", "IPython", "IPython.display"))
    display.HTML, display.display = str, lambda html, display_id: Handle()
    fakes = {"ipykernel": kernel, "IPython": ipython, "IPython.display": display}
    before = {name: sys.modules.get(name) for name in fakes}
    sys.modules.update(fakes)
    try:
        yield bars
    finally:
        for name, module in before.items():
            sys.modules.pop(name)
            if module is not None:
                sys.modules[name] = module


def shares(bar):
    """How far each thing that a bar has shown was, 0 to 1."""
    return [float(re.match(r"<progress value=([0-9.]+) max=1></progress> ", shown).group(1)) for shown in bar]


@contextlib.contextmanager
def terminal():
    """What is written on standard error, which is a terminal meanwhile."""
    class Terminal(io.StringIO):
        def isatty(self):
            return True
    before, sys.stderr = sys.stderr, Terminal()
    try:
        yield sys.stderr
    finally:
        sys.stderr = before


class Shown(unittest.TestCase):
    def test_runs_in_notebooks(self):
        with notebook() as bars:
            nw.run("kmeans", "opportunistic", progress=True)
        executed, ran = bars
        self.assertRegex(executed[0], "executing kmeans")
        self.assertRegex(ran[0], r"<progress value=[01]\.\d+ max=1></progress> +\d+% of \d+ warp-instr")
        self.assertRegex(ran[-1], r"<progress value=1\.000 max=1></progress> 100% of \d+ warp-instructions in \d+ s")

    def test_simulations_in_notebooks(self):
        kmeans = nw.Program.workload("kmeans")
        whole = nw.run(kmeans, "opportunistic")
        with notebook() as bars:
            simulation = nw.Simulation(kmeans, "opportunistic", progress=True)
            self.assertEqual(bars, [])
            simulation.run_to_cycle(whole.cycles // 2)
            half = len(bars)
            simulation.run()
            self.assertTrue(simulation.ended)
        self.assertEqual(simulation.result.cycles, whole.cycles)
        self.assertLessEqual(half, 1)
        self.assertLess(max(map(max, map(shares, bars[:half])), default=0), 1)
        self.assertEqual(shares(bars[-1])[-1], 1)
        self.assertRegex(bars[-1][-1], "100% of")
        for bar in bars:
            self.assertEqual(sorted(shares(bar)), shares(bar))

    def test_a_simulation_that_calls_has_one_bar(self):
        with notebook() as bars:
            simulation = nw.Simulation(nw.Program.workload("kmeans"), "opportunistic", progress=True)
            calls = []
            simulation.run_calling(lambda run: calls.append(run.cycles), every=5000)
        self.assertGreater(len(calls), 3)
        self.assertEqual(len(bars), 1)
        self.assertEqual(shares(bars[0])[-1], 1)

    @needs_tables
    def test_following_has_one_bar(self):
        with notebook() as bars:
            nw.follow(nw.Program.workload("kmeans"), "opportunistic", every=5000, counters=["dram.bytes_read"],
                      progress=True)
        self.assertEqual(len(bars), 1)

    def test_on_terminals(self):
        kmeans = nw.Program.workload("kmeans")
        with terminal() as written:
            nw.Simulation(kmeans, "opportunistic", progress=True).run()
        self.assertRegex(written.getvalue(), r"^\r *\d+% of \d+ warp-instructions[^\n]*\r100% of [^\n]* s *\n$")
        with terminal() as written:
            nw.Program.workload("kmeans", progress=True)
        self.assertRegex(written.getvalue(), r"^\rexecuting kmeans[^\n]*\n$")

    def test_nothing_elsewhere(self):
        before, sys.stderr = sys.stderr, io.StringIO()
        try:
            nw.Simulation("vector-add", "tom", progress=True).run()
            written = sys.stderr.getvalue()
        finally:
            sys.stderr = before
        self.assertEqual(written, "")

    def test_what_is_neither(self):
        for progress in ("yes", 1, [print]):
            with self.assertRaisesRegex(TypeError, "True for a bar"):
                nw.Simulation("vector-add", "tom", progress=progress)
        nw.Simulation("vector-add", "tom", progress=False).run()

    @unittest.skipUnless(importlib.util.find_spec("nbconvert") and importlib.util.find_spec("ipykernel"),
                         "no Jupyter - tools/setup --notebook")
    def test_in_a_notebook_of_jupyters(self):
        cells = ['import nearwarp as nw\nkmeans = nw.Program.workload("kmeans")',
                 'result = nw.run(kmeans, "opportunistic", progress=True)',
                 'print(nw.table(result))', 'nw.sweep(kmeans, "opportunistic", "baseline", progress=True)',
                 'simulation = nw.Simulation(kmeans, "opportunistic", progress=True)\nsimulation.run_to_launch(1)',
                 'simulation.run()']
        document = {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [
            {"cell_type": "code", "source": cell, "metadata": {}, "outputs": [], "execution_count": None}
            for cell in cells]}
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "n.ipynb")
            with open(file, "w", encoding="utf-8") as stream:
                json.dump(document, stream)
            subprocess.run([sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--inplace", file],
                           check=True, capture_output=True, env={**os.environ, "PYTHONPATH": PACKAGE})
            with open(file, encoding="utf-8") as stream:
                _, run, table, sweep, _, rest = [cell["outputs"] for cell in json.load(stream)["cells"]]
        for shown in (run, rest):
            self.assertRegex("".join(shown[0]["data"]["text/html"]), "<progress value=1.000 max=1></progress> 100%")
        self.assertIn("speed-up", "".join(table[0]["text"]))
        self.assertIn("speedup", "".join(sweep[-1]["data"]["text/html"]))


class Stopped(unittest.TestCase):
    def test_runs_that_call(self):
        asked = []

        def stop(progress):
            asked.append(progress.cycles)
            return False
        simulation = nw.Simulation(nw.Program.workload("kmeans"), "opportunistic", progress=stop)
        calls = []
        simulation.run_calling(lambda run: calls.append(run.cycles), every=1 << 40)
        self.assertEqual((len(asked), calls, simulation.ended), (1, [], False))
        for every in (0, -1):
            with self.assertRaisesRegex(ValueError, "every"):
                simulation.run_calling(lambda run: None, every=every)

    def test_programs(self):
        told = []

        def stop(what, done, total):
            told.append((what, total))
            return False
        with self.assertRaisesRegex(nw.Error, "interrupted"):
            nw.Program.workload("kmeans", progress=stop)
        self.assertEqual(told, [("executing kmeans", 0)])

        def fail(*_):
            raise KeyError("mine")
        for load in (nw.Program.workload, nw.Program.load):
            with self.assertRaises(KeyError):
                load("kmeans", progress=fail)
        trace = os.path.join(SAMPLES, "trace/kernelslist.g")
        with self.assertRaises(KeyError):
            nw.Program.recording(trace, progress=fail)
        with self.assertRaisesRegex(TypeError, "True for a bar"):
            nw.Program.load("kmeans", progress="yes")

    def test_kernels_of_ones_own(self):
        printed = []
        device = nw.Device(print=printed.append)
        module = device.load(SPIN, "spin.ptx")
        device.launch(module, "spin", 2, 1, [10])
        self.assertEqual("".join(printed), "done\n" * 2)
        with self.assertRaisesRegex(nw.Error, "interrupted in kernel spin after 0 of 1 thread blocks"):
            device.launch(module, "spin", 1, 32, [FOREVER], progress=lambda what, done, total: False)

        def fail(*_):
            raise KeyError("mine")
        with self.assertRaises(KeyError):
            device.launch(module, "spin", 1, 32, [FOREVER], progress=fail)
        wrong = nw.Device(print=fail)
        module = wrong.load(SPIN, "spin.ptx")
        with self.assertRaises(KeyError):
            wrong.launch(module, "spin", 1, 1, [10])
        silent = nw.Device()
        silent.launch(silent.load(SPIN), "spin", 1, 1, [10])

    def test_ctrl_c_ends_a_kernel(self):
        child = subprocess.Popen(
            [sys.executable, "-c", f"import sys; sys.path.insert(0, {PACKAGE!r}); import nearwarp as nw\n"
             f"device = nw.Device(); module = device.load({SPIN!r})\n"
             f"try: print('begun', flush=True); device.launch(module, 'spin', 1, 32, [{FOREVER}])\n"
             "except KeyboardInterrupt: print('interrupted')\n"], stdout=subprocess.PIPE, text=True)
        self.assertEqual(child.stdout.readline(), "begun\n")
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=60)
        self.assertEqual(out, "interrupted\n")


class Told(unittest.TestCase):
    def test_what_a_part_of_a_program_lacks(self):
        told = []
        with self.assertLogs("nearwarp", logging.WARNING) as logged:
            nw.run("vector-add", "tom", sample=2)
        self.assertIn("all of it is simulated", logged.output[0])
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "a.nwtrace")
            app = [sys.executable, os.path.join(SAMPLES, "squares.py")]
            nw.Program.application(app, output=os.path.join(folder, "printed"), max_thread_instructions=1,
                                   tell=told.append).save(file)
            told.clear()
            nw.Program.recording(file, tell=told.append)
            nw.Program.load(file, tell=told.append)
        self.assertEqual(len(told), 2)
        self.assertRegex(told[0], "only a part was recorded")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
