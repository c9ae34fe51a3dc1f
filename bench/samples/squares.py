#!/usr/bin/env python3
"""An application without a compiler: launches squares.ptx through the CUDA driver's API.

    nearwarp run --policy baseline,tom -- python3 bench/samples/squares.py
"""
import ctypes
import pathlib
import sys

cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    status = getattr(cuda, name)(*arguments)
    if status != 0:
        sys.exit(f"{name}: error {status}")


def words(values):
    return (ctypes.c_uint32 * len(values))(*values)


device, context = ctypes.c_int(), ctypes.c_void_p()
module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
call("cuInit", 0)
call("cuDeviceGet", ctypes.byref(device), 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
call("cuCtxSetCurrent", context)
ptx = pathlib.Path(__file__).with_name("squares.ptx")
call("cuModuleLoad", ctypes.byref(module), str(ptx).encode())
call("cuModuleGetFunction", ctypes.byref(kernel), module, b"squares")

n = 65536
numbers, found = words(range(n)), words([0] * n)
bytes_ = ctypes.c_size_t(4 * n)
source, target = ctypes.c_uint64(), ctypes.c_uint64()
for memory in (source, target):
    call("cuMemAlloc_v2", ctypes.byref(memory), bytes_)
call("cuMemcpyHtoD_v2", source, numbers, bytes_)

parameters = [source, target, ctypes.c_uint32(n)]
pointers = (ctypes.c_void_p * len(parameters))(
    *(ctypes.cast(ctypes.byref(p), ctypes.c_void_p) for p in parameters))
call("cuLaunchKernel", kernel, 64, 1, 1, 128, 1, 1, 0, None, pointers, None)
call("cuMemcpyDtoH_v2", found, target, bytes_)

right = all(found[i] == i * i % 2**32 for i in range(n))
print(f"squares of {n} numbers: {'right' if right else 'WRONG'}")
sys.exit(0 if right else 1)
