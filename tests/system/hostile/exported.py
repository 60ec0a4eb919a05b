"""Memory that descriptors keep: exported.py hold SOCKET keeps each descriptor that it is sent, in a process without CUDA.
exported.py WAY MIB SOCKET takes memory of GPU 0, exports it, has it kept, and is rid of it: by its end (end, killed), a program
in its place (exec) or a free (free). Prints `taken`, and exits with 1 where the memory is refused. exported.py reopen|ipc MIB takes
memory and opens it again, in this process or in another one, before it frees what it took; again and again, until it is refused.
Then it prints `done`, and stays."""
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


def begin():
    cuda = ctypes.CDLL("libcuda.so.1")
    context = ctypes.c_void_p()
    for name, arguments in (("cuInit", (0,)), ("cuDevicePrimaryCtxRetain", (ctypes.byref(context), 0)), ("cuCtxSetCurrent", (context,))):
        result = getattr(cuda, name)(*arguments)
        if result != 0:
            sys.exit("%s: %d" % (name, result))
    return cuda


def reopen(mib):
    cuda = begin()
    what = struct.pack("4i", 1, 1, 1, 0).ljust(128, b"\0")
    while True:
        memory, again, descriptor = ctypes.c_ulonglong(), ctypes.c_ulonglong(), ctypes.c_int()
        if cuda.cuMemCreate(ctypes.byref(memory), ctypes.c_size_t(mib << 20), what, ctypes.c_ulonglong(0)) != 0:
            return
        cuda.cuMemExportToShareableHandle(ctypes.byref(descriptor), memory, 1, ctypes.c_ulonglong(0))
        copy = os.dup(descriptor.value)
        os.close(descriptor.value)
        if cuda.cuMemImportFromShareableHandle(ctypes.byref(again), ctypes.c_void_p(copy), 1) != 0:
            sys.exit("not imported")
        os.close(copy)
        cuda.cuMemRelease(memory)
        print("taken", flush=True)


kept = []


class IpcHandle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 64)]


def ipc(mib):
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    kept.append(ours)  # the other one ends with this process
    if os.fork() == 0:
        ours.close()
        cuda = begin()
        while handle := theirs.recv(64):
            address = ctypes.c_ulonglong()
            result = cuda.cuIpcOpenMemHandle(ctypes.byref(address), IpcHandle.from_buffer_copy(handle), 1)
            theirs.send(b"y" if result == 0 else b"n")
        os._exit(0)  # the other one has ended
    cuda = begin()
    while True:
        memory, handle = ctypes.c_ulonglong(), IpcHandle()
        if cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(mib << 20)) != 0:
            return
        cuda.cuIpcGetMemHandle(ctypes.byref(handle), memory)
        ours.send(bytes(handle))
        if ours.recv(1) != b"y":
            sys.exit("not opened")
        cuda.cuMemFree_v2(memory)
        print("taken", flush=True)


if sys.argv[1] == "hold":
    hold(sys.argv[2])
if sys.argv[1] in ("reopen", "ipc"):
    {"reopen": reopen, "ipc": ipc}[sys.argv[1]](int(sys.argv[2]))
    print("done", flush=True)
    signal.pause()
take(sys.argv[1], int(sys.argv[2]), sys.argv[3])
