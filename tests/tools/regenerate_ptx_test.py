"""Does tools/regenerate-ptx know what is stale, without a compiler? PROGRAM is its argument."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv[1]
# Prints its source behind a line with its version, as nvcc does, and the source's name to a file.
COMPILER = """#!/usr/bin/env bash
case $1 in --version) echo "Cuda compilation tools, $VERSION"; exit ;; esac
while (($#)); do
  case $1 in -o) to=$2; shift ;; -*) ;; *) source=$1 ;; esac
  shift
done
echo "$source" >> compiled
{ echo "// Cuda compilation tools, $VERSION"; cat "$source"; } > "$to"
"""


class Regenerate(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        (self.root / "tools").mkdir()
        shutil.copy(PROGRAM, self.root / "tools")
        self.write("nvcc", COMPILER)
        (self.root / "nvcc").chmod(0o755)
        for name in "abc":
            self.write(f"bench/probes/{name}.cu", f'#include "{name}.h"\n')
            self.write(f"bench/probes/{name}.h", "")
        self.regenerate()

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def run_it(self, *words, nvcc, version="1"):
        values = dict(os.environ, NVCC=str(nvcc), VERSION=version)
        program = [str(self.root / "tools/regenerate-ptx"), *words]
        return subprocess.run(program, env=values, cwd=self.root, capture_output=True, text=True)

    def regenerate(self, **values):
        """The names of what is compiled."""
        (self.root / "compiled").write_text("")
        done = self.run_it(nvcc=self.root / "nvcc", **values)
        self.assertEqual(done.returncode, 0, done.stderr)
        sources = (self.root / "compiled").read_text().split()
        return "".join(pathlib.Path(source).stem for source in sources)

    def stale(self):
        """The names of what is stale, without a compiler."""
        done = self.run_it("--check", nvcc="/nonexistent")
        lines = done.stderr.splitlines()
        self.assertEqual(done.returncode, 1 if lines else 0, done.stderr)
        self.assertTrue(all(line.startswith("stale: bench/probes/") for line in lines), done.stderr)
        return "".join(line.split("/")[2][0] for line in lines)

    def test_all_that_is_stale_is_named(self):
        self.assertEqual(self.stale(), "")
        self.write("bench/probes/a.h", "// changed")
        self.write("bench/probes/b.cu", "// changed")
        self.assertEqual(self.stale(), "ab")
        (self.root / "bench/probes/c.ptx").unlink()
        self.assertEqual(self.stale(), "abc")
        self.assertEqual(self.regenerate(), "abc")
        self.assertEqual(self.stale(), "")
        self.write("bench/probes/b.ptx", "// changed by hand")
        self.write("bench/probes/d.cu", "")
        self.assertEqual(self.stale(), "bd")

    def test_only_what_is_stale_is_compiled(self):
        self.assertEqual(self.regenerate(), "")
        self.write("bench/probes/b.h", "// changed")
        self.assertEqual(self.regenerate(), "b")
        self.assertEqual(self.regenerate(version="2"), "abc")
        self.assertEqual(self.stale(), "")

    def test_without_a_compiler_nothing_is_made(self):
        done = self.run_it(nvcc="/nonexistent")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no nvcc found", done.stderr)

    def test_numbers_of_processes_leave_no_trace(self):
        for process in ("123", "54321"):
            name = f"_GLOBAL__N__01234567_4_a_cu_89abcdef_{process}"
            self.write("bench/probes/a.cu", f"_Z5startN{len(name)}{name}3MapES0_\n")
            self.regenerate()
            made = (self.root / "bench/probes/a.ptx").read_text()
            self.assertIn("_Z5startN36_GLOBAL__N__00000000_4_a_cu_000000003MapES0_\n", made)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
