"""Does tools/nearwarp_results.py read what the program writes? PROGRAM TOOLS are its arguments."""

import importlib.util
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, TOOLS = sys.argv[1:3]
sys.path.insert(0, TOOLS)
import nearwarp_results as results  # noqa: E402


class Results(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def file(self, name, *words):
        """The document that the program writes to a file of that name."""
        path = str(pathlib.Path(self.folder.name) / name)
        option = "--out" if words[0] == "sweep" else "--json"
        done = subprocess.run([PROGRAM, *words, option, path], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path

    def test_run(self):
        path = self.file("run.json", "run", "gather", "--policy", "baseline,ndp-ideal")
        rows = results.rows(path)
        self.assertEqual([row["policy"] for row in rows], ["baseline", "ndp-ideal"])
        self.assertEqual(rows[0]["workload"], "gather")
        self.assertGreater(rows[0]["cycles"], 0)
        self.assertIn("traffic.gpu_to_memory_bytes", rows[0])
        counters = [name for name in rows[0] if name.startswith("counters.")]
        self.assertGreater(len(counters), 20)
        self.assertTrue(all(isinstance(rows[0][name], (int, float)) for name in counters))
        kernels = results.member(path, "kernel_totals")
        self.assertEqual(kernels[0]["policy"], "baseline")
        self.assertIn("launches", kernels[0])
        with self.assertRaisesRegex(ValueError, "no 'kernel_total' - its lists are: .*kernel_totals"):
            results.member(path, "kernel_total")
        with self.assertRaisesRegex(ValueError, "no 'traffic' - its lists are: "):
            results.member(path, "traffic")

    def test_sweep(self):
        words = ("sweep", "gather", "--policy", "baseline", "--set", "l2.bytes=524288,1048576")
        path = self.file("sweep.jsonl", *words)
        rows = results.rows(path)
        self.assertEqual(sorted(row["overrides.l2.bytes"] for row in rows), [524288, 1048576])
        self.assertGreater(rows[0]["run.cycles"], 0)
        whole = self.file("folder/", *words)
        self.assertEqual(len(results.rows(whole)), 2)
        text = pathlib.Path(path).read_text()
        cut = pathlib.Path(self.folder.name) / "cut.jsonl"
        cut.write_text(text[:-100])
        with self.assertRaisesRegex(ValueError, "cut.jsonl:2 is no JSON"):
            results.rows(cut)

    def test_noc_and_dram(self):
        noc = self.file("noc.json", "noc", "--size", "2x2", "--rate", "0.1,0.2")
        self.assertEqual([row["rate"] for row in results.rows(noc)], [0.1, 0.2])
        dram = self.file("dram.json", "dram", "--traffic", "random", "--rate", "0.1,0.3",
                         "--cycles", "20000")
        rows = results.rows(dram)
        self.assertEqual(len(rows), 2)
        self.assertGreater(rows[1]["bandwidth.gigabytes_per_second"],
                           rows[0]["bandwidth.gigabytes_per_second"])
        out = io.StringIO()
        results.write_csv(rows, ["label", "cycles"], out)
        self.assertEqual(out.getvalue().splitlines()[0], "label,cycles")
        self.assertEqual(len(out.getvalue().splitlines()), 3)

    def test_what_has_no_rows(self):
        path = pathlib.Path(self.folder.name) / "other.json"
        path.write_text('{"schema": "nearwarp.sharing/1"}')
        with self.assertRaisesRegex(ValueError, "schema 'nearwarp.sharing/1' has no rows"):
            results.rows(path)

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "there is no pandas")
    def test_pandas(self):
        path = self.file("pandas.json", "noc", "--size", "2x2", "--rate", "0.1,0.2")
        frame = results.table(path, "rate", "latency")
        self.assertEqual(list(frame.columns), ["rate", "latency"])
        self.assertEqual(len(frame), 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
