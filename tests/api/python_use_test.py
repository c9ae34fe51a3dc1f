"""Does the Python package take what researchers hand over, as numpy and generators have it, or say what is wrong?

Called with the package's folder.
"""

import copy
import gc
import os
import pathlib
import pickle
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
import weakref

PACKAGE = os.path.abspath(sys.argv[1])
SCALE = (pathlib.Path(__file__).parent / "scale.ptx").read_text()
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


@needs_tables
class Devices(unittest.TestCase):
    def setUp(self):
        self.device = nw.Device()

    def test_only_numbers_are_copied(self):
        device = self.device
        at = device.upload(numpy.arange(1000))
        for wrong in (None, "abc", numpy.array([None, 3]), numpy.array(["ab"]), numpy.array([b"ab"]),
                      numpy.array(["2026-01-01"], "M8[D]"), numpy.zeros(3, [("a", "i4"), ("b", "O")])):
            with self.subTest(wrong=wrong), self.assertRaisesRegex(TypeError, "no numbers"):
                device.upload(wrong)
        for wrong in (object, "O", [("a", "i4"), ("b", "O")], "U3", "M8[s]"):
            with self.subTest(wrong=wrong), self.assertRaisesRegex(TypeError, "no numbers"):
                device.download(at, 3, wrong)
        for array in (numpy.zeros(3, object), numpy.zeros(3, [("number", "i4"), ("b", "O")])):
            with self.assertRaisesRegex(TypeError, "no numbers"):
                device.write(at, array)
            with self.assertRaisesRegex(TypeError, "no numbers"):
                device._core.read(at, array)
        pairs = numpy.array([(1, 2.0), (3, 4.0)], [("Old", "i4"), ("New", "f8")])
        for array in (numpy.array([1, 2]), numpy.array([True, False]), pairs, numpy.array([1j]), numpy.float32(3)):
            copied = device.download(device.upload(array), numpy.size(array), array.dtype)
            numpy.testing.assert_array_equal(copied, numpy.atleast_1d(array))
        device.write(at, b"bytes")
        self.assertEqual(bytes(device.download(at, 5, "u1")), b"bytes")

    def test_the_other_order_of_bytes_is_refused(self):
        device, own = self.device, numpy.arange(4, dtype="int32")
        at = device.upload(own)
        for act in (lambda: device.upload(own.astype(">i4")), lambda: device.write(at, own.astype(">i4")),
                    lambda: device.write(at, numpy.zeros(2, [("a", ">f8")])), lambda: device.download(at, 4, ">i4")):
            with self.assertRaisesRegex(TypeError, "big-endian"):
                act()
        numpy.testing.assert_array_equal(device.download(at, 4, "<i4"), own)

    def test_launches_take_numpys_numbers(self):
        device = self.device
        module, values = device.load(SCALE), numpy.arange(1000, dtype="float32")
        at = device.upload(values)
        device.launch(module, "scale", numpy.int64(8), [numpy.int32(128)], [at, numpy.float32(2), numpy.prod((10, 100))])
        device.launch(module, "scale", numpy.array([8, 1]), 128, [numpy.uint64(at), numpy.float64(2), numpy.array(1000)],
                      types="Qfq")
        numpy.testing.assert_array_equal(device.download(at, 1000, "float32"), 4 * values)

    def test_launches_say_which_argument_is_wrong(self):
        device = self.device
        module = device.load(SCALE)

        def launch(arguments, types=None, grid=1, block=1):
            device.launch(module, "scale", grid, block, arguments, types)
        for arguments, types, error, words in (
                ([1, 70000, 3], "QhQ", ValueError, r"arguments\[1\]=70000 .*'h'"),
                ([1, 1e300, 3], "QfQ", ValueError, r"arguments\[1\]=1e\+300"), ([-1], "Q", ValueError, r"arguments\[0\]=-1"),
                ([1, "2"], None, TypeError, r"arguments\[1\]='2'"), ([None], "f", TypeError, r"arguments\[0\]=None"),
                ([1, numpy.arange(3)], None, TypeError, r"arguments\[1\]"), ([2.5], "i", ValueError, r"arguments\[0\]=2.5"),
                ([1], "x", ValueError, r"types\[0\]='x'"), ([1], "QQ", ValueError, "1 arguments, but 2 types")):
            with self.subTest(arguments=arguments), self.assertRaisesRegex(error, words):
                launch(arguments, types)
        for extent in (2.0, None, "8", [1, 2.5]):
            with self.assertRaisesRegex(TypeError, "grid=.* whole number"):
                launch([], grid=extent)
            with self.assertRaisesRegex(TypeError, "block=.* whole number"):
                launch([], block=extent)


class Keys(unittest.TestCase):
    TEXTS = ("plain", 'a "b" c', '"q"', "back\\slash", 'both \\" of', '"', '""', "a, b", "12", "true", "", "a=b")

    def test_texts_come_back(self):
        for text in self.TEXTS:
            with self.subTest(text=text):
                policy = nw.Policy("tom", {"policy.description": text})
                self.assertEqual(policy["policy.description"], text)
                self.assertEqual(policy.changed({"offload.busy_threshold_percent": 50})["policy.description"], text)
        policy = nw.Policy.parse(
            "[policy]\ndescription = '\"q\" and \\n'\nmechanism = 'none'\nmapping = 'bmap'\n", "mine")
        self.assertEqual(policy["policy.description"], '"q" and \\n')

    @needs_tables
    def test_texts_come_back_from_sweeps(self):
        texts = ["plain", "back\\slash", "a, b", "c", '"q"']
        sweep = nw.Sweep("vector-add", "tom", "tom", {"policy.description": texts})
        self.assertEqual(list(sweep.points()["policy.description"]), texts)
        with tempfile.TemporaryDirectory() as folder:
            grown = []
            sweep.run(os.path.join(folder, "x.jsonl"), finished=grown.append)
            self.assertEqual(sorted(grown[-1]["policy.description"]), sorted(texts))
            table = sweep.table(os.path.join(folder, "x.jsonl"))
        self.assertEqual(list(table["policy.description"]), texts)
        self.assertTrue((table.status == "complete").all())
        with self.assertRaisesRegex(ValueError, "commas and quotation marks"):
            nw.Sweep("vector-add", "tom", "tom", {"policy.description": ['a, "b"']})
        self.assertEqual(len(nw.Sweep("vector-add", "tom", "tom", {"gpu.sms": [32, 64]})), 2)
        with self.assertRaises(nw.Error):
            nw.Sweep("vector-add", "tom", "tom", {"gpu.sms": "32,64"})

    @needs_tables
    def test_values_are_numpys_too(self):
        tom = nw.Machine("tom", {"sm.charge_moves": numpy.bool_(True), "gpu.sms": numpy.int64(32)})
        self.assertIs(tom["sm.charge_moves"], True)
        self.assertEqual(tom["gpu.sms"], 32)
        self.assertIs(tom.changed({"sm.charge_moves": numpy.array(False)})["sm.charge_moves"], False)
        self.assertEqual(tom.changed({"dram.standard": numpy.str_("hmc-vault")})["dram.standard"], "hmc-vault")
        sweep = nw.Sweep("vector-add", "tom", "baseline", {"sm.charge_moves": [numpy.bool_(True), numpy.bool_(False)]})
        self.assertEqual(list(sweep.points()["sm.charge_moves"]), [True, False])

    def test_keys_are_a_dict(self):
        wrong = [[], ["gpu.sms"], "gpu.sms", 3, False, [("gpu.sms", 3)]]
        if pandas:
            wrong.append(pandas.Series({"gpu.sms": 3}))
        for keys in wrong:
            for act in (lambda k: nw.Machine("tom", k), lambda k: nw.Machine("tom").changed(k),
                        lambda k: nw.Policy("tom").changed(k), lambda k: nw.Policy.parse("", keys=k)):
                with self.subTest(keys=keys), self.assertRaisesRegex(TypeError, "it is a dict of keys"):
                    act(keys)
        self.assertEqual(nw.Machine("tom", None)["gpu.sms"], nw.Machine("tom", {})["gpu.sms"])


class Objects(unittest.TestCase):
    def test_what_calls_itself_is_freed(self):
        class Witness:
            pass

        def simulation():
            witness, made = Witness(), None
            made = nw.Simulation("vector-add", "tom", progress=lambda _: (witness, made) is not None)
            made.run()
            return weakref.ref(witness)

        def device():
            witness, made = Witness(), None
            made = nw.Device(print=lambda _: (witness, made))
            return weakref.ref(witness)

        def launched():
            witness, made = Witness(), nw.Device()
            made.launch(made.load(SCALE), "scale", 1, 1, [0, 1.0, 0], progress=lambda *_: (witness, made) is not None)
            return weakref.ref(witness)
        for make in (simulation, device, launched):
            with self.subTest(make.__name__):
                witnesses = [make() for _ in range(3)]
                gc.collect()
                self.assertEqual([witness() for witness in witnesses], [None] * 3)

    def test_what_is_in_use_is_not_freed(self):
        told = []
        run = nw.Simulation("kmeans", "tom", progress=lambda p: told.append((gc.collect(), run.cycles)))
        gc.collect()
        run.run()
        self.assertTrue(told)
        self.assertEqual(run.cycles, nw.run("kmeans", "tom").cycles)

    def test_a_launch_beside_another_leaves_its_progress_alone(self):
        device, multiply = nw.Device(), "  mul.f32 %f2, %f2, %f1;\n"
        module = device.load(SCALE.replace(multiply, multiply * 20000))  # it is asked ten times a second
        at = device.allocate(4 * 100000)
        told, refused = [], []

        def progress(*_):
            told.append(1)
            try:
                device.launch(module, "scale", 1, 1, [at, 1.0, 1], progress=lambda *_: refused.append("called"))
            except nw.Error as error:
                refused.append(str(error))
        device.launch(module, "scale", 1000, 128, [at, 1.0, 100000], progress=progress)
        self.assertGreater(len(told), 1)
        self.assertEqual(len(refused), len(told))
        for text in refused:
            self.assertIn("a kernel is running", text)

    @needs_tables
    def test_other_threads_run_while_a_device_works(self):
        device, multiply = nw.Device(), "  mul.f32 %f2, %f2, %f1;\n"
        long = SCALE.replace(multiply, multiply * 400000)
        longest, ended = [0.0], threading.Event()

        def watch():
            last = time.monotonic()
            while not ended.is_set():
                time.sleep(0.001)
                now = time.monotonic()
                longest[0] = max(longest[0], now - last)
                last = now
        thread = threading.Thread(target=watch)
        thread.start()
        begin = time.monotonic()
        device.load(long)
        took = time.monotonic() - begin
        ended.set()
        thread.join()
        self.assertLess(longest[0], 0.7 * took)

    @needs_tables
    def test_threads_share_a_device(self):
        device, wrong = nw.Device(), []

        def use(number):
            for _ in range(50):
                array = numpy.full(1000, number)
                at = device.upload(array)
                if (device.download(at, 1000, array.dtype) != number).any():
                    wrong.append(number)
                device.free(at)
        threads = [threading.Thread(target=use, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_arguments_of_other_types_are_named(self):
        run, program, device = nw.Simulation("vector-add", "tom"), nw.Program.load("vector-add"), nw.Device()
        for act, error, words in (
                (lambda: nw.run(program, "tom", threads=-1), ValueError, "threads=-1"),
                (lambda: nw.run(program, "tom", threads=1.5), TypeError, "threads=1.5 .* whole number"),
                (lambda: nw.sweep(program, "tom", "tom", threads=2**32), ValueError, "threads=4294967296"),
                (lambda: run.run_to_cycle(1.5), TypeError, "cycle=1.5"), (lambda: run.run_to_launch(-1), ValueError, "launches=-1"),
                (lambda: run.run_calling(print, 2.5), TypeError, "every=2.5"), (lambda: run.follow(2, 5), TypeError, "counters=5"),
                (lambda: run.counter(5), TypeError, "name=5 - it is a str"),
                (lambda: run.result.counter(None), TypeError, "name=None - it is a str"),
                (lambda: run.follow(2, [None]), TypeError, "a counter=None"),
                (lambda: nw.table(run.result, width=-1), ValueError, "width=-1"),
                (lambda: nw.Machine("tom")[5], TypeError, "key=5"), (lambda: nw.Machine.parse(5), TypeError, "toml=5"),
                (lambda: nw.Machine("tom", {"machine.description": None}), TypeError, "machine.description=None .* text"),
                (lambda: nw.Machine("tom", {"gpu.sms": [4]}), TypeError, r"gpu.sms=\[4\]"),
                (lambda: nw.Sweep("kmeans", "tom", keys={"gpu.sms": [b"4"]}), TypeError, "gpu.sms=b'4'"),
                (lambda: nw.Program("kmeans"), TypeError, r"'kmeans'.* - load\(\)"),
                (lambda: nw.run(program, nw.Policy("tom"), "tom"), TypeError, "Policy.* is no machine - give"),
                (lambda: nw.run(5, "tom"), TypeError, "5 is no program"),
                (lambda: nw.Program.workload("kmeans", None), TypeError, "size=None"),
                (lambda: nw.Device(print=5), TypeError, "print=5"), (lambda: device.allocate(-1), ValueError, "num_bytes=-1"),
                (lambda: device.free("x"), TypeError, "address='x'"), (lambda: device.load(5), TypeError, "ptx=5"),
                (lambda: device.write(0, [1, 2]), TypeError, r"array=\[1, 2\] has no buffer"),
                (lambda: device.launch(1, "x", 2**32, 1), ValueError, "grid=4294967296"),
                (lambda: device.launch(1, "x", (), 1), ValueError, r"grid=\(\)"),
                (lambda: device.launch(1, "x", 1, 1, 5), TypeError, "arguments=5"),
                (lambda: device.launch(-1, "x", 1, 1), ValueError, "module=-1"),
                (lambda: nw.sweep(program, "tom", "tom", backend="gpu"), nw.Error, 'backend .gpu. - "cpu"')):
            with self.assertRaisesRegex(error, words):
                act()

    def test_several_are_whatever_has_many(self):
        for many in (iter(["baseline", "tom"]), numpy.array(["baseline", "tom"]), pandas.Series(["baseline", "tom"]),
                     {"baseline": 1, "tom": 2}):
            table = nw.sweep((program for program in ["vector-add"]), "tom", many)
            self.assertEqual(list(table.policy), ["baseline", "tom"])
        self.assertEqual(len(nw.Sweep("kmeans", iter(["tom", "coda"]), pandas.Series(["baseline", "tom"]))), 4)
        tom = nw.Machine("tom")
        self.assertIn("gpu.sms", tom)
        self.assertNotIn("gpu.smss", tom)
        self.assertEqual({key: tom[key] for key in tom}["gpu.sms"], 68)

    def test_objects_of_nothing_are_refused(self):
        class Unfinished(nw.Simulation):
            def __init__(self):
                pass
        empty = nw.Simulation.__new__(nw.Simulation)
        for act in (lambda: empty.cycles, lambda: empty.ended, lambda: empty.result, lambda: empty.launches_ended,
                    lambda: empty.run(), lambda: empty.counter("x"), lambda: empty.save(), lambda: Unfinished().cycles):
            with self.assertRaisesRegex(TypeError, "__init__"):
                act()
        for kind in (nw.Result, nw.Counter, nw.Key, nw.Progress, nw.SweepOutcome, nw.Study):
            with self.subTest(kind=kind):
                with self.assertRaises(TypeError):
                    kind.__new__(kind)
                with self.assertRaises(TypeError):
                    kind()

    def test_all_say_what_they_are(self):
        result, program = nw.run("vector-add", "tom"), nw.Program.load("vector-add")
        self.assertEqual(repr(nw.Simulation("vector-add", "tom")),
                         "nearwarp.Simulation(vector-add on tom under baseline: 0 cycles so far)")
        experiment = nw.Experiment("tom")
        with tempfile.TemporaryDirectory() as folder:
            outcome = nw.Sweep("vector-add", "tom").run(os.path.join(folder, "x.jsonl"))
            ran = experiment.run(os.path.join(folder, "y"), progress=lambda _: False)
        launch, counter = result.launches[0], next(c for c in result.counters if c.name == "dram.bytes_read")
        key = next(k for k in nw.Machine("tom").keys if k.name == "links.gpu_to_memory_mbps")
        for thing, said in (
                (counter, f"nearwarp.Counter(dram.bytes_read = {counter.value} bytes)"),
                (program.launches[0], f"nearwarp.Launch({launch.kernel}: {launch.warp_instructions} warp-instructions)"),
                (launch, f"nearwarp.LaunchResult({launch.kernel}: {launch.cycles} cycles from cycle {launch.begin_cycle})"),
                (key, f"nearwarp.Key(links.gpu_to_memory_mbps = {key.value} MB/s)"),
                (experiment.studies[0], f"nearwarp.Study({experiment.studies[0].name!r})"),
                (experiment.figures[0], f"nearwarp.Figure({experiment.figures[0].name!r})"),
                (outcome, "nearwarp.SweepOutcome(1 points: 0 were there, 1 ended now, 0 failed)")):
            self.assertEqual(repr(thing), said)
        self.assertRegex(repr(ran), r"nearwarp.ExperimentOutcome\(\d+ points: .*; stopped\)")

    def test_machines_and_policies_are_pickled(self):
        toml = "[policy]\ndescription = 'x'\nmechanism = 'none'\nmapping = 'bmap'\n"
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mine.toml")
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(toml)
            before = os.getcwd()
            os.chdir(folder)
            try:
                here = nw.Policy("mine.toml")
            finally:
                os.chdir(before)
            for one, key, value in ((nw.Machine("tom", {"gpu.sms": 32}).changed({"sm.warps": 32}), "gpu.sms", 32),
                                    (nw.Policy.parse(toml, "mine").changed({"policy.description": '"q"'}),
                                     "policy.description", '"q"'), (here, "policy.description", "x")):
                for again in (pickle.loads(pickle.dumps(one)), copy.copy(one), copy.deepcopy(one)):
                    self.assertIs(type(again), type(one))
                    self.assertEqual((again.name, again[key]), (one.name, value))

    def test_results_say_what_to_do_instead(self):
        with self.assertRaisesRegex(TypeError, "keep its json"):
            pickle.dumps(nw.run("vector-add", "tom"))

    def test_commands_are_lists(self):
        for act in (nw.Program.application, nw.Program.processes):
            with self.assertRaisesRegex(TypeError, r"it is a list of words: \['/bin/true'\]"):
                act("/bin/true")

    def test_paths_are_utf_8(self):
        odd = os.fsdecode(b"/nowhere/\xff.toml")
        for act in (nw.Machine, nw.Program.load, nw.Sweep("vector-add", "tom").run, nw.Experiment):
            with self.subTest(act=act), self.assertRaisesRegex(ValueError, "not UTF-8"):
                act(odd)
        with self.assertRaisesRegex(nw.Error, "nowhere"):
            nw.Machine(b"/nowhere/mine.toml")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
