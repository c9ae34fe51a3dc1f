"""Do the files that name the version agree, and with the tag, if what is checked out has one?

Called with the source folder.
"""

import os
import re
import subprocess
import sys
import unittest

SOURCE = sys.argv[1]


def text(name):
    with open(os.path.join(SOURCE, name), encoding="utf-8") as stream:
        return stream.read()


def git(*words):
    try:
        done = subprocess.run(["git", "-C", SOURCE, *words], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout if done.returncode == 0 else ""


class Versions(unittest.TestCase):
    def setUp(self):
        self.version = re.search(r"project\(nearwarp VERSION ([0-9.]+)", text("CMakeLists.txt")).group(1)

    def test_files_agree(self):
        self.assertRegex(self.version, r"^\d+\.\d+\.\d+$")
        self.assertEqual(re.search(r"^version: (.*)$", text("CITATION.cff"), re.MULTILINE).group(1), self.version)
        newest = re.search(r"^## (\S+?),? ", text("CHANGELOG.md") + " ", re.MULTILINE).group(1)
        self.assertEqual(newest, self.version)
        wanted = ".".join(self.version.split(".")[:2])
        for name in ("docs/library.md", "tests/api/consumer/CMakeLists.txt", "bench/samples/mechanism/CMakeLists.txt"):
            self.assertIn(f"find_package(nearwarp {wanted} ", text(name), name)

    def test_the_tag_is_the_version(self):
        tags = [tag for tag in git("tag", "--points-at", "HEAD").split() if re.match(r"v\d", tag)]
        if not tags:
            self.skipTest("what is checked out has no tag")
        self.assertEqual(tags, ["v" + self.version])
        heading = re.search(rf"^## {re.escape(self.version)}.*$", text("CHANGELOG.md"), re.MULTILINE).group(0)
        self.assertNotIn("not yet released", heading)
        self.assertIn("date-released: ", text("CITATION.cff"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
