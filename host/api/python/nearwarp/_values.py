"""Values of keys, as Python and as TOML has them."""

from __future__ import annotations

import collections.abc
import typing as t


def text_of(value):
    """A key's value as TOML has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def value_of(text):
    """The other way round: a bool, an int, or the text."""
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text.replace("_", ""), 0)
    except ValueError:
        return text.strip('"')


def varied(keys: t.Any) -> dict[str, list[t.Any]]:
    """{"a.key": values, ...} as a dict of lists: values are one, or as many as can be gone through."""
    keys = {} if keys is None else keys
    if not isinstance(keys, collections.abc.Mapping):
        raise TypeError(f"keys={keys!r} - it is a dict of keys and their values, such as {{\"gpu.sms\": [32, 68]}}")
    lists = {}
    for key, values in keys.items():
        if hasattr(values, "tolist"):  # numpy's and pandas' as Python's own
            values = values.tolist()
        many = isinstance(values, collections.abc.Iterable) and not isinstance(values, (str, bytes))
        lists[key] = list(values) if many else [values]
    return lists


def names_of(names: str | t.Iterable[str]) -> list[str]:
    """One or several names, each once."""
    return [names] if isinstance(names, str) else list(dict.fromkeys(names))


def changes(keys):
    return [f"{key}={text_of(value)}" for key, value in (keys or {}).items()]
