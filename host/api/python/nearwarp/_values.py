"""Checks and conversions of arguments: numbers, texts, names, paths, and values of keys in Python and in TOML."""

from __future__ import annotations

import collections.abc
import numbers
import operator
import os
import re
import typing as t


def whole(name: str, value: t.Any, least: int = 0, most: int = 2**64 - 1) -> int:
    """The argument `name` as an int; numpy's integers are accepted. Throws TypeError or ValueError."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}={value!r} - it is a whole number") from None
    if not least <= number <= most:
        raise ValueError(f"{name}={value!r} - it is a whole number from {least} to {most}")
    return number


def threads_of(threads: t.Any) -> int:
    """The argument `threads`: 0 stands for as many as there are processors."""
    return whole("threads", threads, 0, 2**32 - 1)


def text(name: str, value: t.Any) -> str:
    """The argument `name` as a str. Throws TypeError."""
    if not isinstance(value, (str, bytes)):
        raise TypeError(f"{name}={value!r} - it is a str")
    return t.cast(str, value)


def many_of(one_or_many: t.Any) -> list[t.Any]:
    """A list of names, paths or objects of the package, from one of them or from an iterable."""
    one = isinstance(one_or_many, (str, bytes, os.PathLike)) or hasattr(one_or_many, "_core")
    return list(one_or_many) if not one and isinstance(one_or_many, collections.abc.Iterable) else [one_or_many]


def text_of(key: str, value: t.Any) -> str:
    """A key's value as a change has it (KEY=VALUE, as --set takes it): quotes around a text are taken off there."""
    if hasattr(value, "tolist"):  # numpy's and pandas' as Python's own
        value = value.tolist()
    if not isinstance(value, (str, os.PathLike, numbers.Number)):
        raise TypeError(f"{key}={value!r} - a key's value is a number, a bool or a text")
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    return f'"{text}"' if len(text) > 1 and text[0] == text[-1] == '"' else text


def _unquoted(text: str) -> t.Optional[str]:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else None


def _plain(text: str) -> int | bool | str:
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text.replace("_", ""), 0)
    except ValueError:
        return text


def value_of(toml: str) -> int | bool | str:
    """A key's value as TOML has it: a bool, an int, or the text."""
    text = _unquoted(toml)
    return _plain(toml) if text is None else re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)


def value_of_change(change: str) -> tuple[str, int | bool | str]:
    """The key and the value of a text that axis_of() has made."""
    key, value = change.split("=", 1)
    text = _unquoted(value)
    return key, _plain(value) if text is None else text


def axis_of(key: str, values: t.Iterable[t.Any]) -> str:
    """KEY=A,B,... as sweeps take them. A text with a comma stands in quotes, and so it is one value."""
    texts = []
    for value in values:
        text = text_of(key, value)
        if "," in text and '"' in text:
            raise ValueError(f"{key}={text!r} has commas and quotation marks, which a sweep's file cannot tell from others "
                             "- nearwarp.sweep() takes it")
        texts.append(f'"{text}"' if "," in text else text)
    return f"{key}={','.join(texts)}"


def _mapping(keys: t.Any, such_as: str) -> collections.abc.Mapping:
    if keys is None:
        return {}
    if not isinstance(keys, collections.abc.Mapping):
        raise TypeError(f"keys={keys!r} - it is a dict of keys and their values, such as {such_as}")
    return keys


def varied(keys: t.Any) -> dict[str, list[t.Any]]:
    """{"a.key": values, ...} as a dict of lists: values are one, or as many as can be gone through."""
    lists = {}
    for key, values in _mapping(keys, '{"gpu.sms": [32, 68]}').items():
        if hasattr(values, "tolist"):  # numpy's and pandas' as Python's own
            values = values.tolist()
        many = isinstance(values, collections.abc.Iterable) and not isinstance(values, (str, bytes))
        lists[key] = list(values) if many else [values]
    return lists


def changes_of(keys: t.Any) -> list[str]:
    """{"a.key": value, ...} as changes of a machine or a policy."""
    return [f"{key}={text_of(key, value)}" for key, value in _mapping(keys, '{"gpu.sms": 32}').items()]


def names_of(names: str | t.Iterable[str]) -> list[str]:
    """A list of names, each once, from one or several."""
    if not isinstance(names, collections.abc.Iterable):
        raise TypeError(f"counters={names!r} - they are names of counters")
    return [text("a counter", name) for name in ([names] if isinstance(names, str) else dict.fromkeys(names))]


def path_of(path: str | bytes | os.PathLike) -> str:
    """A path as the compiled part takes it."""
    text = os.fsdecode(path)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(f"the path {text!r} is not UTF-8, as paths have to be here - rename it") from None
    return text


def command_of(command: t.Sequence[str | bytes | os.PathLike]) -> list[str]:
    """The words of an application's command."""
    if isinstance(command, (str, bytes, os.PathLike)):
        raise TypeError(f"command={command!r} - it is a list of words: [{os.fsdecode(command)!r}], with its arguments")
    return [path_of(word) for word in command]
