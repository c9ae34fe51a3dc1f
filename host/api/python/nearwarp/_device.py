"""The functional part of a GPU, which runs the user's own kernels."""

from __future__ import annotations

import collections.abc
import operator
import struct
import typing as t

if t.TYPE_CHECKING:
    import numpy

from . import _core
from ._progress import ActivityBar, OfActivity, shown
from ._programs import Program
from ._values import text, whole


def _check_numbers(dtype):
    """Throws for an array whose elements are no numbers to a GPU."""
    if dtype.hasobject or (dtype.names is None and dtype.base.kind not in "biufc"):
        raise TypeError(f"an array of {dtype} has no numbers that a GPU can use - numpy.asarray(it, dtype=\"float32\"), "
                        "or another type, makes one")
    if not dtype.isnative:
        raise TypeError(f"the numbers of {dtype} are big-endian, and a GPU's are not - "
                        "array.astype(array.dtype.newbyteorder(\"=\")) turns them round")


def _extent(extent, name):
    """The one to three numbers of a grid or a block."""
    extent = extent.tolist() if hasattr(extent, "tolist") else extent
    try:
        numbers = [operator.index(n) for n in ([extent] if hasattr(extent, "__index__") else extent)]
    except TypeError:
        raise TypeError(f"{name}={extent!r} - it is a whole number, or up to three of them") from None
    if not 1 <= len(numbers) <= 3:
        raise ValueError(f"{name}={extent!r} - it is a whole number, or up to three of them")
    return [whole(name, n, 0, 2**32 - 1) for n in numbers]


def _packed(arguments, types):
    """A kernel's parameters as bytes."""
    if isinstance(arguments, (str, bytes)) or not isinstance(arguments, collections.abc.Iterable):
        raise TypeError(f"arguments={arguments!r} - it is a list of the kernel's parameters")
    arguments = [a.tolist() if hasattr(a, "tolist") else a for a in arguments]  # numpy's numbers as Python's own
    if types is None:
        types = "".join("f" if isinstance(a, float) else "q" for a in arguments)
    if len(types) != len(arguments):
        raise ValueError(f"{len(arguments)} arguments, but {len(types)} types - give one for each")
    packed = b""
    for at, (letter, argument) in enumerate(zip(types, arguments)):
        if letter not in "?bBhHiIlLqQefd":
            raise ValueError(f"types[{at}]={letter!r} is no number's type - Q is an address, q i64, I u32, i s32, f f32, d f64")
        try:
            value = struct.pack("=" + letter, argument)
        except (struct.error, OverflowError, TypeError) as error:
            wrong = ValueError if isinstance(argument, (int, float)) else TypeError
            raise wrong(f"arguments[{at}]={argument!r} cannot be of type {letter!r}: {error}") from None
        packed += b"\0" * (-len(packed) % len(value)) + value
    return packed


class Device:
    """The functional part of a GPU: runs kernels of PTX, and keeps what they did as a program.

    >>> device = nw.Device()
    >>> kernels = device.load(open("mine.ptx").read())
    >>> at = device.upload(numpy.arange(1000, dtype="float32"))
    >>> device.launch(kernels, "scale", grid=8, block=128, arguments=[at, 2.0, 1000], types="Qfi")
    >>> device.download(at, 1000, "float32")
    >>> nw.run(device.take_program("scale"), "tom", "baseline").cycles

    print: a function that is told what kernels print, thread block after thread block; without it that is lost.
    """

    def __init__(self, print: t.Optional[t.Callable[[str], t.Any]] = None) -> None:
        if print is not None and not callable(print):
            raise TypeError(f"print={print!r} - it is a function of a text")
        self._core = _core.Device(print)

    def load(self, ptx: str, name: str = "text") -> int:
        """Load PTX text; returns a number for launch()."""
        return self._core.load(text("ptx", ptx), text("name", name))

    def allocate(self, num_bytes: int, name: str = "") -> int:
        """Allocate device memory; returns its address."""
        return self._core.allocate(whole("num_bytes", num_bytes), text("name", name))

    def free(self, address: int) -> None:
        """Free the memory at an address that allocate() or upload() has returned."""
        self._core.free(whole("address", address))

    def upload(self, array: numpy.ndarray, name: str = "") -> int:
        """Copy a numpy array of numbers to new device memory; returns its address."""
        import numpy
        array = numpy.ascontiguousarray(array)
        _check_numbers(array.dtype)
        address = self.allocate(array.nbytes, name)
        self.write(address, array)
        return address

    def write(self, address: int, array: numpy.ndarray) -> None:
        """Copy a numpy array, or another object with a buffer, to device memory."""
        try:
            memoryview(t.cast(t.Any, array))
        except TypeError:
            raise TypeError(f"array={array!r} has no buffer - numpy.asarray(it, dtype=\"float32\"), or another type, "
                            "makes one that has") from None
        self._core.write(whole("address", address), array)

    def download(self, address: int, count: int, dtype: t.Any) -> numpy.ndarray:
        """`count` values of device memory as a numpy array."""
        import numpy
        dtype = numpy.dtype(dtype)
        _check_numbers(dtype)
        array = numpy.empty(count, dtype)
        self._core.read(whole("address", address), array)
        return array

    def launch(self, module: int, kernel: str, grid: t.SupportsIndex | t.Sequence[t.SupportsIndex],
               block: t.SupportsIndex | t.Sequence[t.SupportsIndex], arguments: t.Sequence = (),
               types: t.Optional[str] = None, shared_bytes: int = 0, *, progress: OfActivity = None) -> None:
        """Run a kernel to its end.

        grid (thread blocks), block (threads): a number or up to three. arguments: its parameters in order;
        types: a letter of the struct module for each (Q address, q i64, I u32, i s32, f f32, d f64, ...);
        without it, integers are 8 bytes and floats 4, which is right where these are what the kernel has.
        shared_bytes: dynamic shared memory of a block. progress: as of Program.load(); a kernel that is stopped is an
        Error, and those of its thread blocks stay in the program that had ended.
        """
        packed = _packed(arguments, types)
        with shown(progress, ActivityBar) as asked:
            self._core.launch(whole("module", module, 0, 2**32 - 1), text("kernel", kernel), _extent(grid, "grid"),
                              _extent(block, "block"), packed, whole("shared_bytes", shared_bytes, 0, 2**32 - 1), asked)

    def take_program(self, name: str) -> Program:
        """A Program of all launches, an Error if there were none. The device begins anew, without modules and memory."""
        return Program(self._core.take_program(text("name", name)))
