"""Machines and policies."""

from __future__ import annotations

import os
import typing as t

if t.TYPE_CHECKING:
    import pandas  # type: ignore[import]

    from ._keys import MachineKey, MachineKeys, PolicyKey, PolicyKeys

from . import _core
from ._core import Key
from ._values import changes_of, path_of, text, value_of


class _Made(t.NamedTuple):
    """The source from which a machine or a policy was made."""

    make: t.Callable  # load() or parse() of the compiled type
    source: tuple[str, ...]
    changes: list[str]


def _remade(cls, make, source, changes):
    return cls._of(_Made(getattr(cls._type, make), source, changes))


def _absolute(name_or_path):
    """An absolute path for a path; a name stays as it is."""
    is_path = os.sep in name_or_path or name_or_path.endswith(".toml")
    return os.path.abspath(name_or_path) if is_path else name_or_path


class _Configuration:
    """A machine or a policy. They are never changed: changed() makes another."""

    _type: t.Any = None  # of the compiled part

    def __init__(self, name_or_path: str | os.PathLike, keys: t.Any = None) -> None:
        """By name ("tom") or the path of a .toml file; `keys`: {"gpu.sms": 32, ...} for some of its keys."""
        name, changes = path_of(name_or_path), changes_of(keys)
        self._core = self._type.load(name, changes)
        self._made = _Made(self._type.load, (_absolute(name),), changes)

    @classmethod
    def parse(cls, toml: str, name: t.Optional[str] = None, keys: t.Any = None) -> t.Self:
        """A machine or a policy from the text of a .toml file; `name` stands in results and messages."""
        return cls._of(_Made(cls._type.parse, (text("toml", toml), name or cls.__name__.lower()), changes_of(keys)))

    @classmethod
    def _of(cls, made: _Made) -> t.Self:
        one = cls.__new__(cls)
        one._core, one._made = made.make(*made.source, made.changes), made
        return one

    def __reduce__(self):
        """Pickles its name, path or text, and its changes: a file is read again where it is unpickled."""
        return _remade, (type(self), self._made.make.__name__, *self._made[1:])

    def changed(self, keys: t.Any) -> t.Self:
        """A copy with other values for some keys."""
        changes = changes_of(keys)
        one = type(self).__new__(type(self))
        one._core, one._made = self._core.changed(changes), self._made._replace(changes=[*self._made.changes, *changes])
        return one

    @property
    def name(self) -> str:
        """The name of its file, without the ending."""
        return self._core.name

    @property
    def keys(self) -> list[Key]:
        """All keys: Key objects with name, value, unit, doc (one sentence), range and source."""
        return self._core.keys

    def __getitem__(self, key: t.Any) -> int | bool | str:
        """A key's value: an int, a bool or a text."""
        return value_of(self._core.get(text("key", key)))

    def __iter__(self) -> t.Iterator[str]:
        """The names of its keys."""
        return (k.name for k in self.keys)

    def __contains__(self, key: object) -> bool:
        """Whether it has that key."""
        return any(name == key for name in self)

    def describe(self, begin: str = "") -> str:
        """A text on its keys, or on those that begin with `begin`: value, unit, range, meaning and source."""
        begin = text("begin", begin)
        found = [k for k in self.keys if k.name.startswith(begin)]
        if not found:
            self._core.get(begin)  # says which there are
        return "\n".join(f"{k.name} = {k.value}{' ' + k.unit if k.unit else ''}\n    {k.doc} ({k.range})"
                         + (f"\n    source: {k.source}" if k.source else "") for k in found)

    def table(self) -> pandas.DataFrame:
        """All keys as a pandas.DataFrame with key, value, unit, range, doc and source."""
        import pandas
        return pandas.DataFrame([(k.name, value_of(k.value), k.unit, k.range, k.doc, k.source)
                                 for k in self.keys],
                                columns=["key", "value", "unit", "range", "doc", "source"]).set_index("key")

    def _ipython_key_completions_(self):
        return [k.name for k in self.keys]

    def __repr__(self):
        return f"nearwarp.{type(self).__name__}({self.name!r})"


class Machine(_Configuration):
    """A machine: machine["gpu.sms"], machine.changed({"gpu.sms": 32}), machine.table()."""

    _type = _core.Machine
    if t.TYPE_CHECKING:
        # Editors complete the keys of literal dicts; other mappings may have any keys.
        @t.overload
        def __init__(self, name_or_path: str | os.PathLike, keys: t.Optional[MachineKeys] = None): ...
        @t.overload
        def __init__(self, name_or_path: str | os.PathLike, keys: t.Mapping[str, object]): ...
        def __init__(self, name_or_path, keys=None): ...
        @t.overload
        def changed(self, keys: MachineKeys) -> t.Self: ...
        @t.overload
        def changed(self, keys: t.Mapping[str, object]) -> t.Self: ...
        def changed(self, keys): ...
        def __getitem__(self, key: MachineKey | str) -> int | bool | str: ...


class Policy(_Configuration):
    """A policy: the mechanisms that compute near memory, and how they are set."""

    _type = _core.Policy
    if t.TYPE_CHECKING:
        @t.overload
        def __init__(self, name_or_path: str | os.PathLike, keys: t.Optional[PolicyKeys] = None): ...
        @t.overload
        def __init__(self, name_or_path: str | os.PathLike, keys: t.Mapping[str, object]): ...
        def __init__(self, name_or_path, keys=None): ...
        @t.overload
        def changed(self, keys: PolicyKeys) -> t.Self: ...
        @t.overload
        def changed(self, keys: t.Mapping[str, object]) -> t.Self: ...
        def changed(self, keys): ...
        def __getitem__(self, key: PolicyKey | str) -> int | bool | str: ...


def as_a(cls, one):
    """The machine or policy of a name or a path, or the object itself."""
    if not isinstance(one, (cls, str, bytes, os.PathLike)):
        raise TypeError(f"{one!r} is no {cls.__name__.lower()} - give a nearwarp.{cls.__name__}, or the name or path of one")
    return one if isinstance(one, cls) else cls(one)


def _document_keys(cls):
    """Appends the keys to a class's documentation, so that help() shows them."""
    lines = [f"  {k.name}{' [' + k.unit + ']' if k.unit else ''} ({k.range})\n      {k.doc}"
             for k in cls._type.all_keys()]
    cls.__doc__ += "\n\n    Keys; describe() has one's values and their sources:\n\n" + "\n".join(lines) + "\n"


_document_keys(Machine)
_document_keys(Policy)
