"""Does bench/hardware read what tools print, and write a file that it reads again?

  hardware_test.py SOURCE                          parsers, the file, the script's dry run
  hardware_test.py SOURCE NEARWARP FOLDER          the script on nearwarp's own GPU (nvcc is needed)
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
SOURCE = pathlib.Path(sys.argv[1])
SIMULATED = sys.argv[2:4]
sys.path.insert(0, str(SOURCE / "bench/hardware"))
import hardware_build  # noqa: E402
import hardware_compare as compare  # noqa: E402
import hardware_file as files  # noqa: E402

SCRIPT = SOURCE / "bench/hardware/run"
EXAMPLE = SOURCE / "tests/tools/hardware_example.json"  # of the simulated GPU, not of hardware
# Written by hand in the form of Nsight Compute 2024's raw page.
NCU = '''==PROF== Connected to process 1
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","dram__bytes.sum","lts__t_bytes.sum","sm__cycles_elapsed.max","smsp__inst_executed.sum"
"","","","","","","","","","Mbyte","Kbyte","cycle","inst"
"0","1","vecadd","here","vecadd","1","7","(256, 1, 1)","(2048, 1, 1)","6.25","1,024.5","10,283","90,112"
"1","1","vecadd","here","vecadd","1","7","(256, 1, 1)","(2048, 1, 1)","n/a","512","9","1"
==PROF== Disconnected
'''


def script(*arguments):
    return subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True)


class Files(unittest.TestCase):
    def test_launches_that_are_alike_are_one_kernel(self):
        launches = files.read_launch_times(
            "add\t4,1,1\t256,1,1\t0\t1000.0\nadd\t4,1,1\t256,1,1\t0\t3000.0\n"
            "add\t4,1,1\t256,1,1\t0\t1200.0\nadd\t8,1,1\t256,1,1\t64\t2000.0\n")
        kernels = files.kernels_of(launches, 1500)
        self.assertEqual([(k["launches"], k["nanoseconds"], k["cycles"]) for k in kernels],
                         [(3, 1200.0, 1800), (1, 2000.0, 3000)])

    def test_a_damaged_line_is_named(self):
        with self.assertRaisesRegex(files.Damaged, r"t:2: 'add'"):
            files.read_launch_times("add\t4,1,1\t256,1,1\t0\t1\nadd\n", "t")

    def test_counters_of_nsight_compute(self):
        self.assertEqual(files.read_ncu(NCU),
                         [{"kernel": "vecadd", "dram_bytes": 6.25e6, "l2_bytes": 1024500.0,
                           "cycles": 10283.0, "warp_instructions": 90112.0},
                          {"kernel": "vecadd", "l2_bytes": 512e3, "cycles": 9.0, "warp_instructions": 1.0}])
        with self.assertRaisesRegex(files.Damaged, "no table"):
            files.read_ncu("==ERROR== ERR_NVGPUCTRPERM")
        with self.assertRaisesRegex(files.Damaged, "unit 'furlong'"):
            files.read_ncu(NCU.replace("Mbyte", "furlong"))

    def test_probes(self):
        self.assertEqual(files.read_probe("x\nPROBE l2 263.250 cycles\nCHECK OK\n"),
                         {"value": 263.25, "unit": "cycles"})
        self.assertIsNone(files.read_probe("CHECK OK\n"))
        self.assertEqual(files.with_cycles({"value": 20.0, "unit": "ns"}, 1500),
                         {"value": 20.0, "unit": "ns", "cycles": 30.0})
        rate = {"value": 3000.0, "unit": "GB/s"}
        self.assertEqual(files.with_cycles(rate, 1500), rate)

    def test_a_clock_that_has_changed_is_refused(self):
        files.check_clocks(1980, 1961)
        files.check_clocks(1980, 1999)
        for after in (1959, 2001, 0):
            with self.assertRaisesRegex(files.Damaged, f"1980 MHz before .* {after} MHz after"):
                files.check_clocks(1980, after)

    def test_half_of_the_programs_only_check(self):
        programs = files.read_programs((SOURCE / "bench/hardware/programs.tsv").read_text())
        for of in files.CLASSES:
            roles = [p["role"] for p in programs if p["class"] == of]
            self.assertLessEqual(abs(roles.count("set") - roles.count("check")), 1, of)
        self.assertEqual(sum(p["class"] == "workload" for p in programs), 20)
        with self.assertRaisesRegex(files.Damaged, "p:2: 3 cells"):
            files.read_programs("a\tb\tc\td\nx\ty\tz\n", "p")
        with self.assertRaisesRegex(files.Damaged, "role 'both'"):
            files.read_programs("a\tb\tc\td\nx\ty\tprobe\tboth\n", "p")

    def test_the_file_is_read_as_written(self):
        text = EXAMPLE.read_text()
        whole = files.read_document(text, "example")
        self.assertFalse(whole["hardware"])
        self.assertIn("simulated", whole["device"])
        programs = whole.pop("programs")
        machine = {k: v for k, v in whole.items() if k != "schema"}
        self.assertEqual(files.document(machine, programs), text)
        for key in ("hardware", "programs"):
            with self.assertRaisesRegex(files.Damaged, f"'{key}' is missing"):
                files.read_document(json.dumps({k: v for k, v in json.loads(text).items() if k != key}))
        with self.assertRaisesRegex(files.Damaged, "no file of schema"):
            files.read_document("[]")

    def test_what_has_changed_is_built_again(self):
        with tempfile.TemporaryDirectory() as folder:
            out, source, header = (pathlib.Path(folder) / name for name in ("out", "a b.cu", "a.h"))
            command = hardware_build.with_sources(["cc", str(source)], out)
            self.assertFalse(hardware_build.is_current(out, command), "nothing is there")
            for file in (source, header, out):
                file.write_text("")
            pathlib.Path(command[-1]).write_text(f"{out}: {str(source).replace(' ', chr(92) + ' ')} \\\n {header}\n")
            self.assertFalse(hardware_build.is_current(out, command), "by an unknown command")
            hardware_build.remember(out, command)
            self.assertTrue(hardware_build.is_current(out, command))
            self.assertFalse(hardware_build.is_current(out, ["cc", "-O3"] + command[1:]))
            for file in (source, header):
                os.utime(file, ns=(0, out.stat().st_mtime_ns + 1))
                self.assertFalse(hardware_build.is_current(out, command), file)
                os.utime(file, ns=(0, 0))
            self.assertTrue(hardware_build.is_current(out, command))
            header.unlink()
            self.assertFalse(hardware_build.is_current(out, command), "a source is gone")

    def test_the_script_says_what_it_would_do(self):
        done = script("--dry-run", "--out", "gpu.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(sum(line.startswith("measure (workload") for line in lines), 20)
        compiled = [line for line in lines if line.startswith("build: nvcc") and ".cu " in line]
        self.assertTrue(compiled and all("-arch=sm_90" in line for line in compiled))
        self.assertEqual(lines[-1], "write: gpu.json")
        self.assertNotEqual(script().returncode, 0)
        wrong = script("--dry-run", "--only", "nothing of that name")
        self.assertIn("no program matches", wrong.stderr)


def measured(*programs):
    return {"hardware": True, "device": "a GPU", "driver": "1", "date": "2026-11-30", "programs": list(programs)}


def program(name, cycles, kind="reference", role="check", right=True):
    kernels = [{"launches": 2, "cycles": cycles}]
    return {"executable": name, "arguments": "", "class": kind, "role": role, "right": right, "kernels": kernels}


class Comparison(unittest.TestCase):
    def test_errors_by_class_and_role(self):
        probe = dict(program("probes", 0, "probe", "set"), probe={"value": 10, "unit": "ns", "cycles": 20})
        theirs = measured(program("a", 100), program("b", 1000), program("c", 10000, "workload"),
                          program("d", 50, "workload", "set"), probe, program("failed", 7, right=False))
        ours = measured(program("a", 110), program("b", 800), program("c", 10000, "workload"),
                        program("d", 75, "workload", "set"), dict(probe, probe={"value": 9, "unit": "GB/s"}),
                        program("failed", 7))
        ours["hardware"] = False
        rows, missing = compare.pairs(theirs, ours)
        self.assertEqual(missing, ["probes", "failed"])  # another unit; wrong results
        self.assertEqual(rows[0], ("reference", "check", "a", "cycles", 200, 220))
        by_name = {name: rest for name, *rest in compare.summary(rows)}
        self.assertEqual(list(by_name), ["reference, check", "workload, set", "workload, check",
                                         "programs that only check"])
        number, mean, most, correlation = by_name["programs that only check"]
        self.assertEqual(number, 3)
        self.assertAlmostEqual(mean, (0.1 + 0.2 + 0) / 3)
        self.assertAlmostEqual(most, 0.2)
        # By hand, of ln 200, 2000, 20000 and ln 220, 1600, 20000.
        self.assertAlmostEqual(correlation, 0.99760, 4)
        self.assertIn("+50%", compare.text(rows, missing, theirs, ours))
        page = compare.page(rows, missing, theirs, ours)
        self.assertEqual(page.count("<circle"), 4)
        with self.assertRaisesRegex(files.Damaged, "first file"):
            compare.pairs(ours, ours)
        with self.assertRaisesRegex(files.Damaged, "second file"):
            compare.pairs(theirs, theirs)

    def test_the_script(self):
        with tempfile.TemporaryDirectory() as folder:
            real, page = pathlib.Path(folder) / "real.json", pathlib.Path(folder) / "page.html"
            real.write_text(json.dumps(dict(json.loads(EXAMPLE.read_text()), hardware=True)))
            command = [sys.executable, str(SOURCE / "bench/hardware/compare"), str(real), str(EXAMPLE)]
            done = subprocess.run([*command, "--page", str(page)], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("programs that only check", done.stdout)
            self.assertIn("<svg", page.read_text())
            command[2] = str(EXAMPLE)
            done = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr),
                             (1, "compare: the first file is not of a real GPU\n"))


class Simulated(unittest.TestCase):
    @unittest.skipIf(len(SIMULATED) < 2, "no nearwarp given")
    def test_the_script_measures_nearwarps_own_gpu(self):
        nearwarp, folder = SIMULATED
        with tempfile.TemporaryDirectory() as out:
            path = pathlib.Path(out) / "gpu.json"
            done = script("--build", folder, "--simulated", nearwarp, "--out", str(path), "--only",
                          r"probes\t(shared|distributed)|constant|samples\treduction")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            whole = files.read_document(path.read_text(), str(path))
        self.assertFalse(whole["hardware"])
        by_name = {(p["executable"], p["arguments"]): p for p in whole["programs"]}
        self.assertEqual(len(by_name), 4)
        for program in by_name.values():
            self.assertTrue(program["right"], program)
            self.assertTrue(program["kernels"] and all(k["cycles"] > 0 for k in program["kernels"]), program)
        # 29 cycles, as nearwarp probe finds; the clock is the simulator's own.
        shared = next(k for k in by_name["probes", "shared"]["kernels"] if k["kernel"] == "chase_shared")
        more = next(k for k in by_name["probes", "shared"]["kernels"] if k["kernel"] == "chase_shared_16")
        self.assertAlmostEqual((more["cycles"] - shared["cycles"]) / (8 * 2000), 29.0, delta=0.1)
        self.assertAlmostEqual(by_name["probes", "shared"]["probe"]["cycles"], 29.0, delta=0.1)
        # 24.54 bytes per cycle and SM (5,929 GB/s), as nearwarp probe finds: what a launch takes is not in it.
        done = subprocess.run([nearwarp, "run", "--machine", "h100", "--event-times", "simulated", "--",
                               str(pathlib.Path(folder) / "probes"), "read-l2", "4"], capture_output=True, text=True)
        self.assertAlmostEqual(files.read_probe(done.stdout)["value"] / (24.54 * 132 * 1.83), 1, delta=0.1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
