"""Has the Python package what there is, analyses, comparisons and studies, as the command line has them?

Called with the program and the package's folder.
"""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

PROGRAM, PACKAGE = map(os.path.abspath, sys.argv[1:3])
sys.path.insert(0, PACKAGE)
import nearwarp as nw  # noqa: E402

try:
    import pandas
except ImportError:
    pandas = None


def printed(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=True).stdout


def written(*words):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "d.json")
        printed(*words, "--json", file)
        with open(file, encoding="utf-8") as stream:
            return json.load(stream)


@unittest.skipIf(pandas is None, "no pandas")
class Studies(unittest.TestCase):
    def test_what_there_is(self):
        for table, names in ((nw.machines(), nw.machine_names()), (nw.policies(), nw.policy_names())):
            self.assertEqual(list(table.index), names)
            self.assertTrue(table["description"].str.len().gt(0).all())
            self.assertTrue(table["error"].isna().all())
        workloads = nw.workloads()
        self.assertIn("kmeans", workloads.index)
        self.assertNotIn("NAME-rolled", workloads.index)
        self.assertIn("batch", workloads.loc["decode-step", "parameters"])

    def test_code(self):
        found = nw.analyze("libor", "tom", "tom")
        self.assertEqual(found.document, written("analyze", "libor", "--policy", "tom"))
        self.assertEqual(len(found.candidates), sum(len(k["candidates"]) for k in found.document["kernels"]))
        self.assertEqual(len(found.refusals), sum(len(k["refusals"]) for k in found.document["kernels"]))
        self.assertIn(found.candidates.kernel[0], str(found))
        self.assertEqual(len(nw.analyze(nw.Program.workload("libor"), "tom", "tom").candidates), len(found.candidates))
        with self.assertRaises(nw.Error) as caught:
            nw.analyze("libor", kernel="none")
        self.assertIn("libor_value", caught.exception.right)

    def test_data(self):
        kmeans = nw.Program.workload("kmeans")
        mappings = nw.mappings(kmeans)
        self.assertEqual(mappings.attrs["document"], written("analyze", "kmeans", "--mappings"))
        self.assertEqual(mappings.first_bit[0], 0)
        self.assertTrue(mappings.at_destination.between(0, 1).all())
        self.assertEqual(nw.sharing(kmeans).attrs["text"], printed("analyze", "kmeans", "--sharing"))
        objects = nw.objects("kmeans")
        self.assertEqual(objects.attrs["text"], printed("analyze", "kmeans", "--objects"))
        self.assertGreater(objects.accesses.sum(), 0)

    def test_comparisons(self):
        first, second = nw.run("axpy", "tom"), nw.run("axpy", nw.Machine("tom", {"gpu.sms": 32}))
        changes = nw.compare(first, second).set_index("value")
        self.assertEqual(changes.loc["cycles", "before"], first.cycles)
        self.assertEqual(changes.loc["cycles", "after"], second.cycles)
        self.assertAlmostEqual(changes.loc["cycles", "change"], second.cycles / first.cycles - 1)
        self.assertTrue(nw.compare(first, [first]).empty)
        with self.assertRaises(nw.Error):
            nw.compare("/none", "/none")

    def test_probes_and_networks(self):
        found = nw.probe("gtx480")
        self.assertEqual(found.attrs["document"], written("probe", "--machine", "gtx480"))
        latencies = found[found.core_cycles.notna()]
        self.assertTrue(latencies.gigabytes_per_second.isna().all())
        self.assertGreater(len(latencies), 2)
        loads = nw.network([0.1, 0.3], size="4x4", max_periods=4)
        points = written("noc", "--size", "4x4", "--rate", "0.1,0.3", "--max-periods", "4")["points"]
        self.assertEqual(list(loads.latency), [point["latency"] for point in points])
        with self.assertRaises(TypeError):
            nw.network([0.1], sise="4x4")
        with self.assertRaisesRegex(ValueError, "vcs cannot be -1 - it is a whole number of at least 0"):
            nw.network([0.1], vcs=-1)
        with self.assertRaises(nw.Error):
            nw.network([0.1], topology="mash")

    def test_checks(self):
        found = nw.check("reduction")
        self.assertTrue(found.empty)
        self.assertEqual(found.attrs["text"], printed("check", "reduction"))
        with self.assertRaises(nw.Error):
            nw.check(["true"])

    def test_progress_can_stop(self):
        told = []

        def stop(what, done, total):
            told.append((what, done, total))
            return False
        with self.assertRaises(nw.Error):
            nw.mappings("kmeans", progress=stop)
        self.assertEqual(told[0][0], "analyzing kmeans")

        def fail(*_):
            raise KeyError("mine")
        with self.assertRaises(KeyError):
            nw.sharing("kmeans", progress=fail)

        with self.assertRaisesRegex(TypeError, "progress=3 - it is a function"):
            nw.mappings("kmeans", progress=3)

    def test_pandas_is_wanted_before_anything_is_simulated(self):
        for look in ("mappings", "sharing", "objects", "probe", "check", "network"):
            core = "check_workload" if look == "check" else look
            with unittest.mock.patch.dict(sys.modules, {"pandas": None}), \
                    unittest.mock.patch(f"nearwarp._core.{core}") as simulated:
                with self.assertRaises(ImportError):
                    getattr(nw, look)(*{"network": (), "probe": ("gtx480",)}.get(look, ("kmeans",)))
                simulated.assert_not_called()

    def test_progress_is_shown_on_terminals(self):
        terminal = io.StringIO()
        terminal.isatty = lambda: True
        with contextlib.redirect_stderr(terminal):
            nw.mappings("kmeans", progress=True)
        self.assertRegex(terminal.getvalue(), r"\ranalyzing kmeans: 100% in \d+ s *\n$")

    def test_all_is_documented(self):
        for name in nw.__all__:
            self.assertTrue(getattr(nw, name).__doc__ or name in ("Counter", "Key", "Launch", "LaunchResult", "Progress",
                                                                  "Result", "Error"), name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
