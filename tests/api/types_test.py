"""Do type checkers and editors see the Python package as it is?

Called with the folder that has the package. Wants mypy.
"""

import os
import subprocess
import sys
import tempfile
import unittest

PACKAGE = sys.argv[1]

RIGHT = """
import numpy
import nearwarp as nw
kmeans = nw.Program.workload("kmeans", "medium")
tom = nw.Machine("tom", {"gpu.sms": 32}).changed({"gpu.sms": 64})
sms = tom["gpu.sms"]
keys: dict[str, int] = {key.name: 3 for key in tom.keys if tom[key.name] == 4}
nw.Policy("tom", {str(sms): 3}), nw.Machine("tom", keys), tom.changed(keys)
result = nw.run(kmeans, tom, "tom", sample=2)
error: float | None = result.cycles_error
run = nw.Simulation("kmeans", tom, progress=lambda p: p.cycles < 10)
run.run_to_cycle(3)
nw.Simulation("kmeans", tom, progress=True).run_calling(lambda run: run.cycles < 10, every=3)
nw.Program.load("kmeans", progress=True, tell=print)
nw.Program.recording("app.nwtrace", progress=lambda what, done, total: done < 3)
nw.Device(print=print).launch(0, "scale", 8, 128, [1, 2.0], progress=True)
nw.Device().launch(0, "scale", numpy.prod((8, 8)), [numpy.int64(8), 1])
nw.follow("kmeans", tom, every=3, counters="sm.l1.read_hits")
nw.follow("kmeans", tom, every=3, counters=["sm.l1.read_hits"], progress=True)
cycles: int = run.result.cycles + run.result.counter("sm.l1.read_hits")
nw.sweep([kmeans, "axpy"], tom, ["baseline", "tom"], {"gpu.sms": [1, 2]}, launches="parallel")
nw.Program.application(["./app"], tom, output="app.txt").save("app.nwtrace")
sweep = nw.Sweep(["kmeans", "axpy"], "tom", ["baseline", "tom"], {"gpu.sms": [1, 2]}, size="medium")
done: nw.SweepOutcome = sweep.run("x.jsonl", part=(1, 2), progress=lambda p: p.points_done < 3, finished=print)
left: int = len(sweep) - done.finished - done.already_there
sweep.table("x.jsonl", counters=["sm.l1.read_hits"])
sweep.table("x.jsonl", "offload.instances")
experiment = nw.Experiment("tom", only=["speedup"])
experiment.run("x", progress=True)
page: str = experiment.report("x").html
nw.Experiment.new("app.toml", ["./app", "its", "arguments"]).report().write("y")
candidates = nw.analyze("libor", tom, "tom", kernel="libor_value").candidates
text: str = str(nw.analyze("libor"))
nw.compare(result, [result]), nw.compare("a.json", "b.json")
nw.probe(tom, progress=lambda what, done, total: done < 3)
nw.mappings("kmeans", progress=True)
nw.check("kmeans"), nw.check(["./app"]), nw.network([0.1], size="4x4"), nw.machines(), nw.workloads()
"""

# A line each, and what is said of it.
WRONG = {
    'nw.Machine("tom")[3]': 'Invalid index type',
    'nw.Machine("tom", ["gpu.sms"])': "No overload variant",
    'nw.Policy("tom").changed({3: 3})': "Dict entry",
    'nw.Device().launch(0, "scale", 8.0, 128)': "SupportsIndex",
    'nw.run("kmeans", "tom", 5)': 'incompatible type "int"',
    'nw.Simulation("kmeans", "tom", thread=2)': "thread",
    'nw.Simulation("kmeans", "tom", progress="yes")': 'incompatible type "str"',
    'nw.analyze(5)': 'incompatible type "int"',
    'nw.probe("tom", thread=2)': "thread",
    'nw.run("kmeans", "tom").cycle': 'no attribute "cycle"',
    'nw.Sweep("kmeans", nw.Machine("tom"))': 'incompatible type "Machine"',
    'nw.Sweep("kmeans", "tom").run("x", parts="1/2")': "parts",
    'nw.Sweep("kmeans", "tom").run("x", part=(1, 2, 3))': "int, int, int",
    'nw.Experiment("tom").run().cycles': 'no attribute "cycles"',
}


class Types(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        done = subprocess.run([sys.executable, "-m", "mypy", "--version"], capture_output=True, check=False)
        if done.returncode != 0:
            raise unittest.SkipTest("no mypy")
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def mypy(self, text):
        file = os.path.join(self.folder.name, "use.py")
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(text)
        done = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", os.path.join(self.folder.name, "cache"),
                               file], capture_output=True, text=True, check=False,
                              env={**os.environ, "MYPYPATH": PACKAGE})
        return done.returncode, done.stdout + done.stderr

    def test_what_is_right(self):
        code, said = self.mypy(RIGHT)
        self.assertEqual(code, 0, said)

    def test_what_is_wrong(self):
        _, said = self.mypy("import nearwarp as nw\n" + "\n".join(WRONG) + "\n")
        for at, (line, word) in enumerate(WRONG.items()):
            found = [m for m in said.splitlines() if f"use.py:{at + 2}: error" in m]
            self.assertTrue(found, f"{line}\n{said}")
            self.assertIn(word, "\n".join(found), line)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
