"""keep_memory.py MIB: memory of GPU 0 that only a descriptor keeps, in a child that is another program; prints its pid."""
import ctypes
import os
import struct
import sys

cuda = ctypes.CDLL("libcuda.so.1")


def must(name, *arguments):
    result = getattr(cuda, name)(*arguments)
    if result != 0:
        sys.exit("%s: %d" % (name, result))


context, handle, descriptor = ctypes.c_void_p(), ctypes.c_ulonglong(), ctypes.c_int()
must("cuInit", 0)
must("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
must("cuCtxSetCurrent", context)
# CUmemAllocationProp: pinned, exported as a descriptor, on the device 0; the rest is 0.
what = struct.pack("4i", 1, 1, 1, 0).ljust(128, b"\0")
must("cuMemCreate", ctypes.byref(handle), ctypes.c_size_t(int(sys.argv[1]) << 20), what, ctypes.c_ulonglong(0))
must("cuMemExportToShareableHandle", ctypes.byref(descriptor), handle, 1, ctypes.c_ulonglong(0))
os.set_inheritable(descriptor.value, True)
child = os.fork()
if child == 0:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # who reads this program's output doesn't wait for it
    os.execvp("sleep", ["sleep", "1000"])
print("ready", child, flush=True)
