"""Is what `cmake --install` puts somewhere a library that others build with, and a package that others import?

Called with CMake, the build folder and the source folder.
"""

import json
import os
import shutil
import socket
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
        studies = run(os.path.join(build, "studies"), cwd="/").splitlines()
        self.assertRegex(studies[0], r"^\d\d \d+ 1 \d+ 1$")
        self.assertEqual(studies[1], "cannot read '/none' - is it a readable file?")
        wrong = subprocess.run([program, "vector-ad"], capture_output=True, text=True, check=False)
        self.assertEqual(wrong.returncode, 1)
        self.assertEqual(wrong.stderr, "unknown workload 'vector-ad'\nrather: did you mean 'vector-add'? "
                         "workload_names() has all\n")

    def test_there_are_no_components(self):
        source = os.path.join(self.folder.name, "components")
        os.makedirs(source)
        with open(os.path.join(source, "CMakeLists.txt"), "w", encoding="utf-8") as stream:
            stream.write("cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES CXX)\n"
                         "find_package(nearwarp REQUIRED ${WANTED})\n")

        def configured(wanted):
            return subprocess.run([CMAKE, "-S", source, "-B", source + "/build", f"-DCMAKE_PREFIX_PATH={self.root}",
                                   f"-DWANTED={wanted}"], capture_output=True, text=True, check=False)
        wrong = configured("COMPONENTS;foo")
        self.assertNotEqual(wrong.returncode, 0)
        self.assertIn("nearwarp has no components, and so no 'foo'", " ".join(wrong.stderr.split()))
        self.assertEqual(configured("OPTIONAL_COMPONENTS;foo").returncode, 0)
        self.assertEqual(configured("").returncode, 0)

    def test_mechanisms_need_what_they_are_built_with(self):
        source = os.path.join(self.folder.name, "bare")
        os.makedirs(source)
        with open(os.path.join(source, "CMakeLists.txt"), "w", encoding="utf-8") as stream:
            stream.write("cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES CXX)\n"
                         "find_package(nearwarp REQUIRED)\nnearwarp_program(p loop_stall)\n")
        run(CMAKE, "--install", BUILD, "--prefix", source + "/root")
        bare = subprocess.run([CMAKE, "-S", source, "-B", source + "/build", f"-DCMAKE_PREFIX_PATH={source}/root"],
                              capture_output=True, text=True, check=False)
        self.assertNotEqual(bare.returncode, 0)
        self.assertIn("--component development", " ".join(bare.stderr.split()))

    def test_each_header_by_itself(self):
        folder = os.path.join(self.root, "include/nearwarp")
        headers = sorted(name for name in os.listdir(folder) if name.endswith(".h"))
        self.assertGreater(len(headers), 5)
        with open(os.path.join(folder, "nearwarp.h"), encoding="utf-8") as stream:
            whole = stream.read()
        for header in headers:
            source = os.path.join(self.folder.name, "one.cpp")
            with open(source, "w", encoding="utf-8") as stream:
                stream.write(f"#include <nearwarp/{header}>\n")
            run("c++", "-std=c++20", "-fsyntax-only", "-Wall", "-Werror", f"-I{self.root}/include", source)
            if header != "nearwarp.h":
                self.assertIn(f"#include <nearwarp/{header}>", whole)

    def test_a_mechanism_from_elsewhere(self):
        run(CMAKE, "--install", BUILD, "--prefix", self.root, "--component", "development")
        sample = os.path.join(SOURCE, "bench/samples/mechanism")
        build = os.path.join(self.folder.name, "mechanism")
        # Without optimisation: what is compiled is the models.
        run(CMAKE, "-S", sample, "-B", build, f"-DCMAKE_PREFIX_PATH={self.root}", "-DCMAKE_BUILD_TYPE=Debug")
        run(CMAKE, "--build", build)
        program = os.path.join(build, "bin/nearwarp-stall")
        policy = os.path.join(sample, "stall.toml")
        self.assertIn("stall_cycles = 100", run(program, "show", "policy", policy, cwd="/"))

        def results(nearwarp, *more):
            file = os.path.join(self.folder.name, "m.json")
            run(nearwarp, "run", "row-sum", "--json", file, *more, cwd="/")
            with open(file, encoding="utf-8") as stream:
                return {one["policy"]: one for one in json.load(stream)["runs"]}
        ours = results(program, "--policy", f"baseline,tom,{policy}")
        theirs = results(os.path.join(self.root, "bin/nearwarp"), "--policy", "baseline,tom")
        for name in ("baseline", "tom"):
            self.assertEqual(ours[name]["counters"], theirs[name]["counters"], name)
        counters = {name: c["value"] for name, c in ours["stall"]["counters"].items()}
        self.assertGreater(counters["loop_stall.instances"], 0)
        self.assertEqual(counters["loop_stall.cycles"], 100 * counters["loop_stall.instances"])
        self.assertGreater(ours["stall"]["cycles"], ours["baseline"]["cycles"])
        none = results(program, "--policy", f"baseline,{policy}", "--set", "loop_stall.stall_cycles=0")
        self.assertEqual(none["stall"]["cycles"], none["baseline"]["cycles"])
        self.assertNotEqual(run(program, "--version"), run(os.path.join(self.root, "bin/nearwarp"), "--version"))

    def test_manual_pages_and_completion(self):
        pages = os.listdir(os.path.join(self.root, "share/man/man1"))
        self.assertIn("nearwarp.1", pages)
        self.assertIn("nearwarp-sweep.1", pages)
        if shutil.which("man"):
            text = run("man", "-M", os.path.join(self.root, "share/man"), "nearwarp-run",
                       env={**os.environ, "MANPAGER": "cat"})
            self.assertIn("--policy", text.replace("\u2010", "-"))
        for file in ("bash-completion/completions/nearwarp", "zsh/site-functions/_nearwarp", "zsh/vendor-completions/_nearwarp",
                     "fish/vendor_completions.d/nearwarp.fish"):
            self.assertTrue(os.path.exists(os.path.join(self.root, "share", file)), file)

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

    def test_the_package_in_a_clean_root(self):
        if os.geteuid() != 0 or not (shutil.which("debootstrap") and shutil.which("dpkg-shlibdeps")):
            self.skipTest("no root, or no debootstrap and dpkg-dev")
        try:
            socket.create_connection(("deb.debian.org", 80), timeout=10).close()
        except OSError as error:
            self.skipTest(f"no mirror of Debian's: {error}")
        out = run(os.path.join(SOURCE, "tools/package"), "--try", BUILD)
        self.assertIn("vector-add, size small, on machine tom", out)
        self.assertIn(f"{self.cycles} cycles from Python", out)

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
