"""Does the Python package take what researchers hand over, as numpy and generators have it, or say what is wrong?

Called with the package's folder.
"""

import os
import sys
import unittest
import unittest.mock

PACKAGE = os.path.abspath(sys.argv[1])
sys.path.insert(0, PACKAGE)
import nearwarp as nw  # noqa: E402

try:
    import numpy
    import pandas
except ImportError:
    numpy = pandas = None
needs_tables = unittest.skipIf(pandas is None, "no pandas")


@needs_tables
class Counters(unittest.TestCase):
    def test_steps_that_end_in_one_cycle_add_up(self):
        run = nw.Simulation("vector-add", "tom", "tom")
        total = nw.run("vector-add", "tom", "tom")

        def stand_still(call, every):  # two steps that end in a cycle
            run.run_to_cycle(2000)
            call(run)
            run.run()
            with unittest.mock.patch.object(nw._core.Simulation, "cycles", 2000):
                call(run)
        with unittest.mock.patch.object(run, "run_calling", stand_still):
            table = run.follow(1000, "dram.bytes_read")
        self.assertEqual(len(table), 1)
        self.assertEqual(table["dram.bytes_read"].sum(), total.counter("dram.bytes_read"))

    def test_steps_that_end_at_the_end_lose_nothing(self):
        total = nw.run("vector-add", "tom", "tom")
        for every in (total.cycles - 1, total.cycles, total.cycles + 1):
            table = nw.follow("vector-add", "tom", "tom", every=every, counters="dram.bytes_read")
            self.assertEqual(table["dram.bytes_read"].sum(), total.counter("dram.bytes_read"), every)

    def test_names_are_one_or_several_and_each_once(self):
        name = "dram.bytes_read"
        for names in (name, [name], [name, name], (n for n in [name])):
            table = nw.follow("vector-add", "tom", "tom", every=20000, counters=names)
            self.assertEqual(list(table.columns), [name])
            self.assertGreater(table[name].sum(), 0)
        for names in (name, [name, name], (n for n in [name])):
            table = nw.sweep("vector-add", "tom", "tom", counters=names)
            self.assertEqual(list(table.columns).count(name), 1)
            self.assertGreater(table[name][0], 0)

    def test_a_counter_of_some_runs_is_empty_in_others(self):
        with self.assertNoLogs("nearwarp"):
            table = nw.sweep("kmeans", "tom", ["baseline", "ndp-controlled-bmap"], counters="offload.instances")
        self.assertTrue(table["offload.instances"].isna()[0])
        self.assertGreater(table["offload.instances"][1], 0)

    def test_a_counter_of_no_run_is_told_before_and_costs_no_results(self):
        told = []

        def progress(_):
            told.append(len(logs.output))
        with self.assertLogs("nearwarp", "WARNING") as logs:
            table = nw.sweep("kmeans", "tom", ["baseline", "tom"], counters=["offload.instance"], progress=progress)
        self.assertIn("'offload.instance' when it begins - did you mean 'offload.instances'?", logs.output[0])
        self.assertEqual(set(told), {1}, "before anything was simulated")
        self.assertTrue(table["offload.instance"].isna().all())
        self.assertTrue((table.status == "complete").all())
        # It is there once it has counted.
        with self.assertLogs("nearwarp", "WARNING"):
            table = nw.sweep("vector-add", "tom", "tom", counters="link.gpu_to_memory.busy_ticks")
        self.assertGreater(table["link.gpu_to_memory.busy_ticks"][0], 0)

    def test_speed_ups_are_of_complete_runs(self):
        asked = []

        def stop(_):
            asked.append(None)
            return len(asked) < 3
        table = nw.sweep("kmeans", "tom", ["baseline", "tom"], progress=stop)
        self.assertIn("partial", set(table.status))
        self.assertTrue(table.speedup.isna().all())
        table = nw.sweep("vector-add", "tom", ["baseline", "tom"], {"gpu.sms": [0, 68]})
        self.assertEqual(list(table.status), ["failed", "failed", "complete", "complete"])
        self.assertEqual(list(table.speedup.isna()), [True, True, False, False])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
