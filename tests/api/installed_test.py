"""Is what `cmake --install` puts somewhere a library that others build with, and a package that others import?

Called with CMake, the build folder and the source folder.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

CMAKE, BUILD, SOURCE = sys.argv[1:4]


def run(*words, **settings):
    done = subprocess.run(words, capture_output=True, text=True, check=False, **settings)
    if done.returncode != 0:
        raise AssertionError(f"{words}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = os.path.join(cls.folder.name, "root")
        run(CMAKE, "--install", BUILD, "--prefix", cls.root)
        file = os.path.join(cls.folder.name, "r.json")
        run(os.path.join(cls.root, "bin/nearwarp"), "run", "vector-add", "--policy", "baseline", "--json", file)
        with open(file, encoding="utf-8") as stream:
            cls.cycles = json.load(stream)["runs"][0]["cycles"]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_a_program_of_somebody_elses(self):
        build = os.path.join(self.folder.name, "consumer")
        run(CMAKE, "-S", os.path.join(SOURCE, "tests/api/consumer"), "-B", build,
            f"-DCMAKE_PREFIX_PATH={self.root}")
        run(CMAKE, "--build", build)
        program = os.path.join(build, "consumer")
        out = run(program, cwd="/")
        self.assertEqual(len(out.splitlines()), 3)
        self.assertEqual(out.splitlines()[2], f"vector-add: {self.cycles} cycles")
        wrong = subprocess.run([program, "vector-ad"], capture_output=True, text=True, check=False)
        self.assertEqual(wrong.returncode, 1)
        self.assertEqual(wrong.stderr, "unknown workload 'vector-ad'\nrather: did you mean 'vector-add'?\n")

    def test_only_the_interface_is_exported(self):
        library = os.path.realpath(os.path.join(BUILD, "lib/libnearwarp.so"))
        for line in run("nm", "-DC", "--defined-only", library).splitlines():
            name = line.split(" ", 2)[2]
            if "nearwarp::" in name:
                self.assertNotRegex(name, r"nearwarp::(sim|runtime|config|sm|report|kernels)::[a-z_]+\(", line)

    def test_the_package(self):
        if not (shutil.which("dpkg-deb") and shutil.which("dpkg-shlibdeps")):
            self.skipTest("no dpkg-dev")
        made = run(os.path.join(SOURCE, "tools/package"), BUILD).split()
        package = next(name for name in made if name.endswith(".deb"))
        package = os.path.join(SOURCE, package)
        depends = run("dpkg-deb", "--field", package, "Depends")
        for library in ("libc6", "libstdc++6", "libfmt9"):
            self.assertIn(library, depends)
        root = os.path.join(self.folder.name, "unpacked")
        run("dpkg-deb", "-x", package, root)
        out = run(os.path.join(root, "usr/bin/nearwarp"), "show", "machine", "tom", cwd="/")
        self.assertIn(os.path.join(root, "usr/share/nearwarp/configs/machines/tom.toml"), out)
        tarball = next(name for name in made if name.endswith(".tar.gz"))
        self.assertIn("bin/nearwarp", run("tar", "-tf", os.path.join(SOURCE, tarball)))

    def test_the_wheel(self):
        wheels = os.path.join(self.folder.name, "wheels")
        if not os.path.exists(os.path.join(BUILD, "python/nearwarp")):
            self.skipTest("no Python package was built")
        wheel = run(os.path.join(SOURCE, "tools/wheel"), BUILD, wheels).strip()
        venv = os.path.join(self.folder.name, "venv")
        made = subprocess.run([sys.executable, "-m", "venv", venv], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            self.skipTest("no python3-venv: " + made.stdout.strip().split("\n")[0])
        python = os.path.join(venv, "bin/python")
        settings = {"cwd": "/", "env": {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}}
        run(python, "-m", "pip", "install", "--no-index", "--quiet", wheel, **settings)
        out = run(python, "-c", "import nearwarp as nw; print(nw.__file__); "
                  "print(nw.run('vector-add', 'tom').cycles)", **settings).split()
        self.assertTrue(out[0].startswith(venv), out[0])
        self.assertEqual(int(out[1]), self.cycles)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
