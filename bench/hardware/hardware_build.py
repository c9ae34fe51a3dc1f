"""Executables that are built again when their command or one of their sources has changed."""
import pathlib
import shlex


def with_sources(command, output):
    """The command, which also writes what it read: `output`.d, as make has it."""
    return command + ["-MMD", "-MF", f"{output}.d"]


def sources_of(rule):
    """The files of a rule for make: TARGET: FILE FILE ..."""
    _, _, files = rule.replace("\\\n", " ").partition(": ")
    return [pathlib.Path(file) for file in shlex.split(files)]


def remember(output, command):
    """The command has just made `output`."""
    pathlib.Path(f"{output}.command").write_text(shlex.join(command) + "\n")


def is_current(output, command):
    """Was `output` made by this command, after the last change of everything that it read?"""
    output = pathlib.Path(output)
    known, rule = pathlib.Path(f"{output}.command"), pathlib.Path(f"{output}.d")
    if not (output.exists() and known.exists() and rule.exists()):
        return False
    if known.read_text() != shlex.join(command) + "\n":
        return False
    made = output.stat().st_mtime_ns
    return all(file.exists() and file.stat().st_mtime_ns <= made for file in sources_of(rule.read_text()))
