"""Does the Python package give the command line's results, and do Ctrl-C, threads and errors work?

Called with the program, the package's folder and the folder of the samples.
"""

import inspect
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PROGRAM, PACKAGE, SAMPLES = map(os.path.abspath, sys.argv[1:4])
sys.path.insert(0, PACKAGE)
import nearwarp as nw  # noqa: E402

try:
    import numpy
    import pandas
except ImportError:
    numpy = pandas = None
needs_tables = unittest.skipIf(pandas is None, "no pandas")

SCALE = (pathlib.Path(__file__).parent / "scale.ptx").read_text()


def reproducible(run):
    """The part of a run's JSON that is the same in every run: all but the host's times."""
    return {key: value for key, value in run.items() if key != "host"}


class Python(unittest.TestCase):
    def test_results_are_the_command_lines(self):
        for workload, machine, policy in (("kmeans", "tom", "tom"), ("axpy", "mpu", "mpu")):
            with tempfile.TemporaryDirectory() as folder:
                file = os.path.join(folder, "r.json")
                subprocess.run([PROGRAM, "run", workload, "--machine", machine, "--policy", policy, "--json",
                                file], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                with open(file, encoding="utf-8") as stream:
                    theirs = json.load(stream)["runs"][0]
            result = nw.run(workload, machine, policy)
            self.assertEqual(reproducible(json.loads(result.json)), reproducible(theirs))
            self.assertEqual(result.cycles, theirs["cycles"])

    def test_applications_are_the_command_lines(self):
        app = [sys.executable, os.path.join(SAMPLES, "..", "squares.py")]
        with tempfile.TemporaryDirectory() as folder:
            file, printed = os.path.join(folder, "r.json"), os.path.join(folder, "printed")
            subprocess.run([PROGRAM, "run", "--policy", "tom", "--json", file, "--", *app], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            with open(file, encoding="utf-8") as stream:
                theirs = json.load(stream)["runs"][0]
            program = nw.Program.application(app, output=printed)
            with open(printed, encoding="utf-8") as stream:
                self.assertIn("right", stream.read())
        result = nw.run(program, "tom", "tom")
        self.assertEqual({**reproducible(json.loads(result.json)), "workload": ""}, {**reproducible(theirs), "workload": ""})
        with self.assertRaises(nw.Error) as caught:
            nw.Program.application(["/no/such/app"])
        self.assertIn("no application", caught.exception.what)
        with self.assertRaises(TypeError):
            nw.Program.application(app, kernel="x")
        told = []
        with self.assertRaises(nw.Error):
            nw.Program.application(["false"], tell=told.append)
        self.assertEqual(told, ["the application ended with status 1"])

    def test_a_run_stops_and_goes_on(self):
        whole = nw.run("kmeans", "tom", "tom")
        run = nw.Simulation("kmeans", "tom", "tom")
        run.run_to_launch(2)
        self.assertEqual(run.launches_ended, 2)
        run.run_to_cycle(run.cycles + 1000)
        self.assertTrue(run.result.partial)
        run.run()
        self.assertTrue(run.ended)
        self.assertEqual(reproducible(json.loads(run.result.json)), reproducible(json.loads(whole.json)))

    def test_machines_are_like_dictionaries(self):
        tom = nw.Machine("tom")
        fewer = tom.changed({"gpu.sms": 32, "sm.charge_moves": True})
        self.assertEqual((tom["gpu.sms"], fewer["gpu.sms"], fewer["sm.charge_moves"]), (68, 32, True))
        self.assertIn("gpu.sms", [k.name for k in tom.keys])
        self.assertTrue(all(k.doc for k in tom.keys))
        self.assertEqual(fewer.changed({"gpu.sms": 68})["gpu.sms"], 68)

    def test_keys_have_units_sources_and_help(self):
        tom = nw.Machine("tom")
        keys = {k.name: k for k in tom.changed({"gpu.sms": 32}).keys}
        self.assertEqual(keys["gpu.sms"].source, "changed")
        self.assertEqual(keys["dram.tRCD"].source if "dram.tRCD" in keys else tom["dram.standard"],
                         tom["dram.standard"])
        self.assertTrue({k.source for k in tom.keys} > {"default"})
        self.assertIn("estimated", " ".join(k.source for k in tom.keys))
        text = tom.describe("links.gpu_to_memory_mbps")
        for part in ("links.gpu_to_memory_mbps = ", "MB/s", "Bandwidth", "source: "):
            self.assertIn(part, text)
        with self.assertRaises(nw.Error):
            tom.describe("link.s")
        for cls, key in ((nw.Machine, "links.gpu_to_memory_mbps [MB/s]"), (nw.Policy, "pages.chunk (")):
            self.assertIn(key, cls.__doc__)
        from nearwarp import _keys
        self.assertEqual(list(_keys.MachineKeys.__annotations__), [k.name for k in nw.Machine._type.all_keys()])
        self.assertEqual(list(_keys.PolicyKey.__args__), [k.name for k in nw.Policy._type.all_keys()])
        self.assertIn("gpu.sms", tom._ipython_key_completions_())
        self.assertEqual({k.source for k in nw.Policy.parse(
            "[policy]\ndescription = 'x'\nmechanism = 'none'\nmapping = 'bmap'\n").keys}, {""})

    def test_functions_are_called_every_so_many_cycles(self):
        seen = []

        def look(run):
            seen.append((run.cycles, run.counter("sm.l1.read_hits")))
            return len(seen) != 3
        simulation = nw.Simulation("kmeans", "tom", "baseline")
        simulation.run_calling(look, every=10000)
        self.assertEqual([cycle for cycle, _ in seen], [10000, 20000, 30000])
        self.assertFalse(simulation.ended)
        simulation.run_calling(look, every=50000)
        self.assertTrue(simulation.ended)
        self.assertEqual(seen[-1], (simulation.cycles, simulation.result.counter("sm.l1.read_hits")))
        self.assertEqual(sorted(seen), seen)

    def test_tables_are_the_command_lines(self):
        def without_host_times(text):
            return [line for line in text.splitlines() if "simulat" not in line]
        own = nw.table([nw.run("kmeans", "tom", policy) for policy in ("baseline", "tom")])
        ran = subprocess.run([PROGRAM, "run", "kmeans", "--policy", "baseline,tom"], check=True,
                             capture_output=True, text=True)
        self.assertEqual(without_host_times(own), without_host_times(ran.stdout))
        self.assertIn("kmeans@0+libor@1-3", nw.table(nw.run("kmeans@0+libor@1-3", "coda", "coda")))

    def test_errors_say_what_would_be_right(self):
        with self.assertRaises(nw.Error) as caught:
            nw.Machine("tmo")
        self.assertEqual(caught.exception.right, "did you mean 'tom'?")
        with self.assertRaises(nw.Error) as caught:
            nw.Policy.parse("[policy]\nmechanism = 5\n", "mine")
        self.assertEqual((caught.exception.file, caught.exception.line), ("mine", 2))
        with self.assertRaises(nw.Error):
            nw.run("vector-add", "gtx480", "tom")
        with self.assertRaises(nw.Error):
            nw.run("vector-add", "tom").counter("sm.l1")
        with self.assertRaises(TypeError):
            nw.Simulation(1, 2, 3)

    def test_what_progress_throws_comes_back(self):
        def fail(_):
            raise KeyError("mine")
        with self.assertRaises(KeyError):
            nw.run("kmeans", "opportunistic", progress=fail)
        with self.assertRaises(KeyError):
            nw.sweep(["kmeans"], "opportunistic", "baseline", progress=fail) if pandas else fail(None)

    def test_other_threads_run_meanwhile(self):
        counted, ended = [0], threading.Event()

        def count():
            while not ended.is_set():
                counted[0] += 1
                time.sleep(0.001)
        thread = threading.Thread(target=count)
        run = nw.Simulation("kmeans", "opportunistic", "baseline")
        thread.start()
        before = counted[0]
        run.run()
        during = counted[0] - before
        ended.set()
        thread.join()
        self.assertGreater(during, 20)

    def test_interrupts_end_it(self):
        for work in ("nw.run('kmeans', 'mpu', 'mpu', progress=tell)",
                     "nw.sweep(['kmeans'], 'mpu', ['baseline', 'mpu'], progress=tell)"):
            if pandas is None and "sweep" in work:
                continue
            child = subprocess.Popen(
                [sys.executable, "-c",
                 f"import sys; sys.path.insert(0, {PACKAGE!r}); import nearwarp as nw\n"
                 "def tell(p): print('at', p.warp_instructions, flush=True)\n"
                 f"try: {work}\n"
                 "except KeyboardInterrupt: print('interrupted')\n"],
                stdout=subprocess.PIPE, text=True)
            self.assertTrue(child.stdout.readline().startswith("at"))
            child.send_signal(signal.SIGINT)
            out, _ = child.communicate(timeout=60)
            self.assertEqual(out.split("\n")[-2], "interrupted")

    def test_launches_in_parts(self):
        parts = nw.run("kmeans", "tom", launches="parallel:1:3", threads=2)
        self.assertFalse(parts.exact)
        self.assertIsNone(parts.cycles_error)
        self.assertTrue(nw.run("vector-add", "tom", launches="parallel").exact)
        with self.assertRaisesRegex(nw.Error, "there is no launch 9"):
            nw.run("vector-add", "tom", launches="9..9")
        with self.assertRaisesRegex(nw.Error, "not between 1.5 and 50"):
            nw.run("vector-add", "tom", sample=1)

    @needs_tables
    def test_sweeps_in_parts(self):
        row = nw.sweep("kmeans", "tom", "baseline", launches="parallel:1:3").iloc[0]
        self.assertEqual(row.cycles, nw.run("kmeans", "tom", launches="parallel:1:3").cycles)

    @needs_tables
    def test_sweeps_are_tables(self):
        told = []
        table = nw.sweep(["vector-add", "axpy"], "tom", ["baseline", "tom"],
                         {"links.gpu_to_memory_mbps": [40000, 80000]}, counters=["sm.l1.read_hits"],
                         progress=told.append)
        self.assertEqual(len(table), 8)
        self.assertTrue(table.error.isna().all())
        self.assertTrue((table[table.policy == "baseline"].speedup == 1).all())
        one = table.iloc[5]
        machine = nw.Machine("tom", {"links.gpu_to_memory_mbps": 40000})
        self.assertEqual(one.cycles, nw.run("axpy", machine, "tom").cycles)
        self.assertTrue(told)
        # A key of one policy's mechanism does not affect the other policy.
        busy = nw.sweep("axpy", "tom", ["baseline", "ndp-controlled-bmap"],
                        {"offload.busy_threshold_percent": [10, 90]})
        self.assertTrue(busy.error.isna().all())
        self.assertEqual(busy.cycles[0], busy.cycles[2])
        wrong = nw.sweep("vector-add", "tom", ["baseline", "tom"], {"gpu.sms": [0, 68]})
        self.assertEqual(list(wrong.error.isna()), [False, False, True, True])
        self.assertIn("gpu.sms", str(wrong.error[0]))

    @needs_tables
    def test_counters_over_time_add_up(self):
        table = nw.follow("kmeans", "tom", "tom", every=10000, counters=["dram.bytes_read"])
        self.assertEqual(table["dram.bytes_read"].sum(),
                         nw.run("kmeans", "tom", "tom").counter("dram.bytes_read"))
        self.assertTrue(table.index.is_monotonic_increasing)

    @needs_tables
    def test_kernels_of_ones_own(self):
        device = nw.Device()
        module = device.load(SCALE, "scale.ptx")
        values = numpy.arange(1000, dtype="float32")
        at = device.upload(values)
        device.launch(module, "scale", 8, (128,), [at, 3.0, 1000], types="QfQ")
        numpy.testing.assert_array_equal(device.download(at, 1000, "float32"), 3 * values)
        with self.assertRaises(ValueError):
            device.write(at, numpy.zeros((10, 10), "float32")[:, ::2])
        with self.assertRaises(nw.Error):
            device.launch(module, "scale", 8, 2000, [at, 3.0, 1000], types="QfQ")
        program = device.take_program("scaled")
        self.assertEqual([launch.kernel for launch in program.launches], ["scale"])
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "own.nwtrace")
            program.save(file)
            self.assertEqual(nw.run(file, "tom").cycles, nw.run(program, "tom").cycles)

    @needs_tables
    def test_samples_run(self):
        for name, part in (("sensitivity", "80000"), ("optimise", "are enough"), ("follow", "before cycle"),
                           ("resume", "were there")):
            with tempfile.TemporaryDirectory() as folder:
                ran = subprocess.run([sys.executable, os.path.join(SAMPLES, name + ".py")], cwd=folder,
                                     env={**os.environ, "PYTHONPATH": PACKAGE}, capture_output=True, text=True,
                                     check=False)
                self.assertEqual(ran.returncode, 0, ran.stderr)
                self.assertIn(part, ran.stdout)

    def test_names_have_types_and_docs(self):
        for name in nw.__all__:
            self.assertTrue(hasattr(nw, name), name)
            thing = getattr(nw, name)
            if callable(thing):
                self.assertTrue(thing.__doc__, name)
            for member in dir(thing) if isinstance(thing, type) else ():
                what = inspect.getattr_static(thing, member)
                if not member.startswith("_") and (callable(what) or isinstance(what, (property, classmethod))):
                    with self.subTest(f"{name}.{member}"):
                        self.assertTrue(what.__doc__)
        with open(os.path.join(PACKAGE, "nearwarp", "_core.pyi"), encoding="utf-8") as stub:
            stubs = stub.read()
        for name in dir(nw._core):
            if not name.startswith("_"):
                self.assertRegex(stubs, rf"(class|def) {name}\b")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
