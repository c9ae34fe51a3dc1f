"""Do Python's sweeps and experiments find what the command line does, and go on where they were stopped?

Called with the program, the package's folder and the folder of the samples.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

PROGRAM, PACKAGE, SAMPLES = map(os.path.abspath, sys.argv[1:4])
sys.path.insert(0, PACKAGE)
import nearwarp as nw  # noqa: E402

try:
    import pandas
except ImportError:
    pandas = None
needs_tables = unittest.skipIf(pandas is None, "no pandas")

BANDWIDTHS = {"links.gpu_to_memory_mbps": [40000, 80000]}
EXPERIMENT = """
title = "Two"
description = "For tests."
[study.main]
workloads = ["vector-add", "axpy"]
machines = ["tom"]
policies = ["baseline", "ndp-controlled-bmap"]
[[figure]]
name = "speedup"
title = "Speed-up"
studies = ["main"]
x = "workload"
series = "policy"
value = "cycles"
as = "speedup"
"""


def program(*words):
    subprocess.run([PROGRAM, *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def lines_of(path):
    """By id, without what differs from run to run."""
    lines = {}
    with open(path, encoding="utf-8") as stream:
        for text in stream:
            line = json.loads(text)
            line["run"].pop("host")
            lines[line["id"]] = line
    return lines


def text_of(path):
    with open(path, encoding="utf-8") as stream:
        return stream.read()


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = lambda name: os.path.join(folder.name, name)


class Sweeps(InFolder):
    def sweep(self):
        return nw.Sweep(["vector-add", "axpy"], "tom", ["baseline", "tom"], BANDWIDTHS)

    def test_results_are_the_command_lines(self):
        program("sweep", "vector-add,axpy", "--policy", "baseline,tom", "--set",
                "links.gpu_to_memory_mbps=40000,80000", "--out", self.at("theirs.jsonl"), "--csv", self.at("theirs.csv"))
        sweep = self.sweep()
        outcome = sweep.run(self.at("own.jsonl"), csv=self.at("own.csv"))
        self.assertEqual((len(sweep), outcome.points, outcome.finished, outcome.failed), (8, 8, 8, 0))
        own = lines_of(self.at("own.jsonl"))
        self.assertEqual(own, lines_of(self.at("theirs.jsonl")))
        self.assertEqual(text_of(self.at("own.csv")), text_of(self.at("theirs.csv")))
        self.assertIn("axpy", outcome.table)
        if pandas is None:
            return
        self.assertEqual(set(sweep.points().id), set(own))
        table = sweep.table(outcome.file, counters=["sm.l1.read_hits"])
        csv = pandas.read_csv(self.at("theirs.csv"), float_precision="round_trip")
        for name in ("id", "cycles", "ipc", "speedup", "gpu_to_memory_bytes", "energy_joules", *BANDWIDTHS):
            self.assertEqual(list(table[name]), list(csv[name]), name)
        self.assertEqual(table["sm.l1.read_hits"][0],
                         own[table.id[0]]["run"]["counters"]["sm.l1.read_hits"]["value"])
        self.assertTrue(table.error.isna().all())

    def test_stopped_it_goes_on(self):
        sweep, told = self.sweep(), []

        def stop(progress):
            told.append(progress.points)
            return progress.points_done < 2
        first = sweep.run(self.at("x.jsonl"), threads=1, progress=stop)
        self.assertTrue(first.stopped)
        self.assertLess(first.finished, 8)
        self.assertEqual(set(told), {8})
        rest = sweep.run(self.at("x.jsonl"))
        self.assertEqual((rest.already_there, rest.finished), (first.finished, 8 - first.finished))
        self.assertEqual(len(lines_of(self.at("x.jsonl"))), 8)

    def test_parts_are_joined(self):
        sweep, folder = self.sweep(), self.at("x/")
        for part in ("1/2", (2, 2)):
            self.assertEqual(sweep.run(folder, part=part).finished, 4)
        if pandas:
            self.assertTrue(sweep.table(folder).cycles.notna().all(), "also of parts")
        whole = sweep.run(folder)
        self.assertEqual((whole.already_there, whole.finished), (8, 0))
        self.assertEqual(len(lines_of(whole.file)), 8)

    @needs_tables
    def test_the_table_grows(self):
        sweep, grown = self.sweep(), []
        sweep.run(self.at("x.jsonl"), finished=lambda table: grown.append(table))
        sizes = [len(table) for table in grown]
        self.assertEqual(sizes, sorted(set(sizes)))
        self.assertEqual(sizes[-1], 8)
        whole = sweep.table(self.at("x.jsonl")).set_index("id")
        for row in grown[-1].itertuples():
            self.assertEqual(row.cycles, whole.cycles[row.id])
        self.assertEqual(len(sweep.table(self.at("x.jsonl"))), 8)

    @needs_tables
    def test_the_table_that_grows_has_the_values_of_the_whole(self):
        sweep, grown = nw.Sweep("vector-add", "tom", "baseline", {"dram.tRCD": ["14ns", "30ns"]}), []
        sweep.run(self.at("x.jsonl"), finished=grown.append)
        whole = sweep.table(self.at("x.jsonl")).drop(columns="speedup")
        self.assertEqual(list(whole["dram.tRCD"]), ["14ns", "30ns"])
        by_id = [table.set_index("id").sort_index() for table in (grown[-1], whole)]
        pandas.testing.assert_frame_equal(*by_id, check_dtype=False)

    @needs_tables
    def test_counters_that_only_some_runs_have(self):
        sweep = nw.Sweep("kmeans", "tom", ["baseline", "ndp-controlled-bmap"])
        sweep.run(self.at("x.jsonl"))
        table = sweep.table(self.at("x.jsonl"), "offload.instances")
        self.assertTrue(table["offload.instances"].isna()[0], "the baseline offloads nothing")
        self.assertGreater(table["offload.instances"][1], 0)
        with self.assertRaisesRegex(nw.Error, "'offload.instance' - did you mean 'offload.instances'"):
            sweep.table(self.at("x.jsonl"), ["sm.l1.read_hits", "offload.instance"])

    @needs_tables
    def test_estimates_and_parts_of_runs_are_told_from_runs(self):
        policies = ["baseline", "tom"]
        part = nw.Sweep("axpy", "tom", policies)
        whole = text_of(part.run(self.at("x.jsonl")).file)
        with open(self.at("x.jsonl"), "w", encoding="utf-8") as stream:
            stream.write(whole.replace('"status":"complete"', '"status":"partial"'))
        for sweep, estimated in (
                (nw.Sweep("gaussian", "tom", policies, sample=20), lambda table: table.cycles_error > 0),
                (nw.Sweep("kmeans", "tom", policies, launches="parallel"), lambda table: table.approximated.notna()),
                (part, lambda table: table.status == "partial")):
            outcome = sweep.run(self.at("x.jsonl"), csv=self.at("x.csv"))
            csv = pandas.read_csv(self.at("x.csv"), float_precision="round_trip")
            table = sweep.table(outcome.file)
            for name in ("status", "cycles", "speedup", "cycles_error", "approximated"):
                self.assertEqual(list(table[name].fillna(0)), list(csv[name].fillna(0)), name)
            self.assertTrue(estimated(table).all(), table.to_string())
            self.assertEqual(table.speedup.isna().all(), table.status[0] == "partial")

    def test_pandas_is_wanted_before_points_run(self):
        with unittest.mock.patch.dict(sys.modules, {"pandas": None}):
            with self.assertRaises(ImportError):
                nw.Sweep("vector-add", "tom").run(self.at("x.jsonl"), finished=print)
        self.assertFalse(os.path.exists(self.at("x.jsonl")))

    @needs_tables
    def test_a_file_that_is_damaged_says_where(self):
        sweep, path = nw.Sweep("vector-add", "tom"), self.at("x.jsonl")
        sweep.run(path)
        good = text_of(path)
        for bad, reason in ((b"{}", "no 'schema'"), (b"\xff", "utf-8"), (b"3", "other types"), (b"{3", "column 2"),
                            (b'{"schema":"nearwarp.sweep/1"}', "schema 'nearwarp.sweep/1'"),
                            (b'{"schema":"nearwarp.sweep/2"}', "no 'id'")):
            with open(path, "wb") as stream:
                stream.write(good.encode() + bad + b"\n")
            with self.assertRaisesRegex(nw.Error, "x.jsonl:2 is no line.*" + reason + ".* - mend or remove") as caught:
                sweep.table(path)
            self.assertEqual((caught.exception.file, caught.exception.line), (path, 2))
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(good + good[:40])
        self.assertTrue(sweep.table(path).cycles.notna().all(), "the last line is being written")

    @needs_tables
    def test_a_point_that_fails_says_why(self):
        sweep = nw.Sweep("vector-add", "tom", "baseline", {"l1.ways": [4, 3]})
        self.assertEqual(list(sweep.points().error.isna()), [True, False])
        outcome = sweep.run(self.at("x.jsonl"))
        self.assertEqual((outcome.finished, outcome.failed), (2, 1))
        self.assertIn("power of two", outcome.first_failure)
        table = sweep.table(self.at("x.jsonl"))
        self.assertIn("power of two", table.error[1])
        self.assertTrue(table.cycles.isna()[1])

    def test_errors_say_what_would_be_right(self):
        with self.assertRaisesRegex(nw.Error, "did you mean 'tom'"):
            nw.Sweep("axpy", "tmo")
        with self.assertRaisesRegex(TypeError, "no name or path of a machine"):
            nw.Sweep("axpy", nw.Machine("tom"))
        with self.assertRaisesRegex(nw.Error, "gpu.smss"):
            nw.Sweep("axpy", "tom", "baseline", {"gpu.smss": 3})
        with self.assertRaisesRegex(nw.Error, "part"):
            self.sweep().run(self.at("x.jsonl"), part="3/2")
        with self.assertRaisesRegex(KeyError, "mine"):
            self.sweep().run(self.at("x.jsonl"), progress=lambda _: {}["mine"])
        if pandas:
            with self.assertRaisesRegex(nw.Error, "none.jsonl.* - run\\(\\) makes it"):
                self.sweep().table(self.at("none.jsonl"))
        for part in ((1, 2, 3), (1,), 3, (1, "2"), (0.5, 2)):
            with self.assertRaisesRegex(TypeError, "first of four"):
                self.sweep().run(self.at("x.jsonl"), part=part)
        for keys in ("gpu.sms=3", ["gpu.sms=3"]):
            with self.assertRaisesRegex(TypeError, "gpu.sms.*32, 68"):
                nw.Sweep("axpy", "tom", "baseline", keys)

    def test_arguments_of_other_types(self):
        for name, value in (("threads", "2"), ("threads", -1), ("retry", "yes"), ("device", 0.5), ("backend", 3)):
            with self.assertRaisesRegex(ValueError, f"{name} cannot be {value!r} - it is"):
                self.sweep().run(self.at("x.jsonl"), **{name: value})
        for name, value in (("max_repeats", -1), ("size", 3), ("launches", 3), ("cold_caches", "no")):
            with self.assertRaisesRegex(ValueError, f"{name} cannot be {value!r} - it is"):
                nw.Sweep("vector-add", "tom", **{name: value})
        with self.assertRaisesRegex(ValueError, "size cannot be 3 - it is a str"):
            nw.Experiment.parse(EXPERIMENT, size=3)
        with self.assertRaisesRegex(ValueError, "devices cannot be 'two' - it is"):
            nw.Program.application(["true"], "tom", devices="two")
        with self.assertRaisesRegex(TypeError, "progress=3 - it is a function"):
            self.sweep().run(self.at("x.jsonl"), progress=3)
        with self.assertRaisesRegex(TypeError, "progress returned 'yes' - False stops"):
            self.sweep().run(self.at("x.jsonl"), progress=lambda _: "yes")

    def test_values_of_keys_are_all_that_can_be_gone_through(self):
        for values in ([32, 33], (32, 33), range(32, 34), iter([32, 33])):
            self.assertEqual(len(nw.Sweep("axpy", "tom", "baseline", {"gpu.sms": values})), 2)
        if pandas:
            self.assertEqual(len(nw.sweep("vector-add", "tom", "baseline", {"gpu.sms": range(32, 34)})), 2)
            column = pandas.Series([32, 33])
            for values in (column, column.values):
                self.assertEqual(len(nw.Sweep("axpy", "tom", "baseline", {"gpu.sms": values})), 2)

    def test_ctrl_c_ends_it(self):
        child = subprocess.Popen(
            [sys.executable, "-c",
             f"import sys; sys.path.insert(0, {PACKAGE!r}); import nearwarp as nw\n"
             "def tell(p): print('at', p.points, flush=True)\n"
             f"try: nw.Sweep('kmeans', 'mpu', ['baseline', 'mpu']).run({self.at('x.jsonl')!r}, progress=tell)\n"
             "except KeyboardInterrupt: print('interrupted')\n"],
            stdout=subprocess.PIPE, text=True)
        self.assertEqual(child.stdout.readline(), "at 2\n")
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=60)
        self.assertEqual(out.split("\n")[-2], "interrupted")


class Experiments(InFolder):
    def test_reports_are_the_command_lines(self):
        with open(self.at("two.toml"), "w", encoding="utf-8") as stream:
            stream.write(EXPERIMENT)
        program("experiment", self.at("two.toml"), "--out", self.at("theirs"))
        own = nw.Experiment(self.at("two.toml"))
        self.assertEqual((own.name, own.title, own.size, own.folder), ("two", "Two", "small", "two-small"))
        outcome = own.run(self.at("own"))
        self.assertEqual((outcome.points, outcome.finished, outcome.failed), (4, 4, 0))
        report = own.report(self.at("own"))
        report.write(self.at("own"))
        for name in ("points.csv", "figures/speedup.csv", "figures/speedup.tex", "experiment.json", "report.html"):
            self.assertEqual(text_of(self.at("own/" + name)), text_of(self.at("theirs/" + name)), name)
        self.assertIn("Speed-up", report.text)
        self.assertEqual(own.run(self.at("own")).already_there, 4)
        if pandas:
            self.assertEqual(len(report.points), 4)
            self.assertEqual(set(report.figures["speedup"].workload), {"vector-add", "axpy"})

    @needs_tables
    def test_points_and_parts(self):
        experiment = nw.Experiment.parse(EXPERIMENT, "two")
        points, grown = experiment.points(), []
        self.assertEqual(list(points.program), ["vector-add", "vector-add", "axpy", "axpy"])
        self.assertEqual([s.name for s in experiment.studies], ["main"])
        self.assertEqual([f.name for f in experiment.figures], ["speedup"])
        experiment.run(self.at("x"), part=(1, 2), finished=grown.append)
        self.assertEqual(len(grown[-1]), 2)
        self.assertEqual(len(experiment.report(self.at("x")).points), 2)
        self.assertEqual(experiment.run(self.at("x")).already_there, 2)

    def test_an_application_of_ones_own(self):
        app = [sys.executable, os.path.join(SAMPLES, "..", "squares.py")]
        experiment = nw.Experiment.new(self.at("app.toml"), app)
        outcome = experiment.run(self.at("x"))
        self.assertEqual((outcome.finished, outcome.failed), (3, 0), outcome.first_failure)
        self.assertEqual(len(os.listdir(self.at("x/programs"))), 1)
        self.assertTrue(experiment.report(self.at("x")).summary)

    def test_errors_say_what_would_be_right(self):
        with self.assertRaisesRegex(nw.Error, "did you mean 'tom'"):
            nw.Experiment("tmo")
        self.assertIn("tom", nw.experiment_names())
        with self.assertRaises(nw.Error) as caught:
            nw.Experiment.parse("title = 3", "mine")
        self.assertEqual((caught.exception.file, caught.exception.line), ("mine", 1))
        with self.assertRaisesRegex(nw.Error, "no figure 'speed'"):
            nw.Experiment("tom", only="speed")
        with self.assertRaisesRegex(nw.Error, self.at("none")):
            nw.Experiment.parse(EXPERIMENT).report(self.at("none"))
        with self.assertRaisesRegex(nw.Error, ".toml"):
            nw.Experiment.new(self.at("x"), "kmeans")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
