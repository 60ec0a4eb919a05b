"""Memory that descriptors keep: exported.py hold SOCKET keeps each descriptor that it is sent, in a process without CUDA.
exported.py WAY MIB SOCKET takes memory of GPU 0, exports it, has it kept, and is rid of it: by its end (end, killed), a program
in its place (exec) or a free (free). Prints `taken`, and exits with 1 where the memory is refused."""
import array
import ctypes
import os
import signal
import socket
import struct
import sys

OUT_OF_MEMORY = 2


def hold(path):
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(path)
    listener.listen(16)
    print("ready", flush=True)
    kept = []
    while True:
        sender, _ = listener.accept()
        _, ancillary, _, _ = sender.recvmsg(1, socket.CMSG_SPACE(4))
        for level, kind, data in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                kept.extend(array.array("i", data))
        sender.sendall(b"k")
        sender.close()


def send(path, descriptor):
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    link.connect(path)
    link.sendmsg([b"d"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))])
    link.recv(1)
    link.close()
    os.close(descriptor)


def take(way, mib, path):
    cuda = ctypes.CDLL("libcuda.so.1")

    def must(name, *arguments):
        result = getattr(cuda, name)(*arguments)
        if result == OUT_OF_MEMORY:
            sys.exit(1)
        if result != 0:
            sys.exit("%s: %d" % (name, result))

    context, memory, descriptor = ctypes.c_void_p(), ctypes.c_ulonglong(), ctypes.c_int()
    size = ctypes.c_size_t(mib << 20)
    must("cuInit", 0)
    must("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    must("cuCtxSetCurrent", context)
    # CUmemAllocationProp: pinned, exported as a descriptor, on the device 0; the rest is 0.
    what = struct.pack("4i", 1, 1, 1, 0).ljust(128, b"\0")
    must("cuMemCreate", ctypes.byref(memory), size, what, ctypes.c_ulonglong(0))
    must("cuMemExportToShareableHandle", ctypes.byref(descriptor), memory, 1, ctypes.c_ulonglong(0))
    send(path, descriptor.value)
    print("taken", flush=True)
    if way == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if way == "exec":
        os.execv(sys.executable, [sys.executable] + sys.argv)
    if way == "free":
        must("cuMemRelease", memory)
        take(way, mib, path)


if sys.argv[1] == "hold":
    hold(sys.argv[2])
take(sys.argv[1], int(sys.argv[2]), sys.argv[3])
