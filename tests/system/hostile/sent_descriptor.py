"""Sends descriptors on cgpud's link that make whoever closes or reads them wait: sent_descriptor.py socket WAY, in a job, and
sent_descriptor.py files FOLDER, as the first process of an instance of its own. Says `sent`, and stays."""
import array
import ctypes
import os
import signal
import socket
import struct
import subprocess
import sys
import time

HELLO, HAND_OVER = 1, 13
COMPUTE, OBSERVE, ROLE_HAND_OVER = 1, 2, 4


def message(kind, body):
    return struct.pack("IIQ", kind, 16 + len(body), 0) + body


def hello(role):
    return message(HELLO, struct.pack("IIII", 3, 3, role, 0))


def send_lingering(link, packet):
    """Sends a TCP socket with unsent data, whose last close takes ten minutes. A child has it, and ends: that doesn't linger,
    should it be the last one that has it."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    listener.bind(("127.0.0.1", 0))
    listener.listen(1)
    keep.append(listener)
    child = os.fork()
    if child == 0:
        sender = socket.socket()
        sender.connect(listener.getsockname())
        sender.setblocking(False)
        try:
            while True:
                sender.send(b"x" * 65536)
        except BlockingIOError:
            pass
        sender.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 600))
        send(link, packet, [sender.fileno()])
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        sys.exit("not sent")


def connected(path="/run/cgpu/link/socket"):
    link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    link.connect(path)
    keep.append(link)
    return link


def send(link, packet, fds):
    link.sendmsg([packet], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])


def send_socket(way):
    link = connected()
    if way == "first":
        send_lingering(link, b"?")
    elif way == "hello":
        send_lingering(link, hello(COMPUTE))
    else:
        link.send(hello(OBSERVE))
        # `unread`: cgpud's answer is still there when the connection ends.
        if way == "welcomed":
            link.recv(512)
        send_lingering(link, b"")
        if way == "unread":
            link.close()


def serve_for_a_while(fd):
    """Answers what a file system is asked until somebody reads: INIT, LOOKUP, OPEN, GETATTR."""
    attributes = struct.pack("QQQQQQ", 2, 1 << 20, 1, 0, 0, 0) + struct.pack("10I", 0, 0, 0, 0o100755, 1, 0, 0, 0, 4096, 0)
    while True:
        request = os.read(fd, 1 << 17)
        opcode, unique = struct.unpack_from("=IQ", request, 4)
        if opcode == 26:
            answer = struct.pack("IIIIHHIIHH", 7, 31, 0, 0, 0, 0, 4096, 1, 0, 0) + bytes(32)
        elif opcode == 1:
            answer = struct.pack("QQQQII", 2, 0, 1000, 1000, 0, 0) + attributes
        elif opcode == 3:
            answer = struct.pack("QII", 1000, 0, 0) + attributes
        elif opcode == 14:
            answer = struct.pack("QII", 1, 0, 0)
        else:
            continue
        os.write(fd, struct.pack("IiQ", 16 + len(answer), 0, unique) + answer)


def silent_file(folder):
    fuse = os.open("/dev/fuse", os.O_RDWR)
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"fd={fuse},rootmode=40000,user_id=0,group_id=0"
    if libc.mount(b"fuse", folder.encode(), b"fuse", 0, options.encode()) != 0:
        raise OSError(ctypes.get_errno(), "mounting a FUSE file system")
    if os.fork() == 0:
        serve_for_a_while(fuse)
    os.close(fuse)
    return os.open(folder + "/library", os.O_RDONLY)


def bus(*arguments, **options):
    return subprocess.Popen(["busctl", "call", "org.cgpu1", "/org/cgpu1", "org.cgpu1.Manager", *arguments], **options)


def send_files(folder):
    name = "f00d" * 16
    path = f"/run/cgpu/instances/{name}/link/socket"
    # The instance ends with its creator unless that has attached another process before: it can't say what it was answered.
    full, end = os.pipe()
    os.set_blocking(end, False)
    try:
        while True:
            os.write(end, b"x")
    except BlockingIOError:
        os.set_blocking(end, True)
    creator = bus("CreateInstance", "ssa{ss}a{sv}", name, "files", "1", "CGPU_MEM", "1GiB", "0", stdout=end)
    while not os.path.exists(path):
        if creator.poll() is not None:
            sys.exit("no instance")
        time.sleep(0.02)
    if bus("Attach", "sua{sv}", name, str(os.getpid()), "0").wait() != 0:
        sys.exit("not attached")
    os.close(full)
    link = connected(path)
    link.send(hello(ROLE_HAND_OVER))
    send(link, message(HAND_OVER, struct.pack("II", 1, 0) + bytes(480)), [silent_file(folder)])


keep = []
if sys.argv[1] == "socket":
    send_socket(sys.argv[2])
else:
    send_files(sys.argv[2])
print("sent", flush=True)
signal.pause()
