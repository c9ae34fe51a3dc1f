"""Writes _keys.py of the package: types of the keys of machines and policies, for editors and type checkers.

Called with the folder of the package, which has its compiled part.
"""

import os
import sys


def kind_of(key):
    if key.range == "true or false":
        return "bool"
    # Times of memories may be given in ns, as a text.
    return "int | str" if key.range[0].isdigit() and "ns" in key.range else "int" if key.range[0].isdigit() else "str"


def types_of(name, keys):
    yield f"{name}Key = Literal["
    yield from (f'    "{key.name}",' for key in keys)
    yield "]"
    yield f"{name}Keys = TypedDict('{name}Keys', {{"
    for key in keys:
        yield f"    # {key.unit + '; ' if key.unit else ''}{key.range}: {key.doc}"
        yield f'    "{key.name}": "{kind_of(key)}",'
    yield "}, total=False)"


def main():
    package = sys.argv[1]
    sys.path.insert(0, os.path.dirname(package))
    import nearwarp
    lines = ['"""Keys of machines and policies with the types of their values. Made from the program\'s own table."""',
             "from typing import Literal, TypedDict", ""]
    for cls in (nearwarp.Machine, nearwarp.Policy):
        lines += [*types_of(cls.__name__, cls._type.all_keys()), ""]
    with open(os.path.join(package, "_keys.py"), "w", encoding="utf-8") as out:
        out.write("\n".join(lines))


main()
