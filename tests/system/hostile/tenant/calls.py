#!/usr/bin/env python3
"""A tenant that calls cgpud on one connection of the system bus, which busctl's calls don't share.

calls.py unmanaged COUNT PID   takes in so many containers without a limit, attaches PID to each, prints `ready`, and stays
calls.py own ID                creates an instance with that id for itself, prints `ready`, and stays
calls.py read COUNT FOLDER     creates and releases an instance so many times, and reads its files in cgpu-fs's folder of a GPU
calls.py churn COUNT           creates and releases an instance so many times, and prints how often that was done
calls.py tell COUNT            has so many instances, one after the other, whose processes tell cgpud what it should log
"""
import os
import signal
import socket
import struct
import sys
import time


class Body:
    def __init__(self):
        self.data, self.kinds = b"", ""

    def pad(self, to):
        self.data += b"\0" * (-len(self.data) % to)

    def raw_text(self, text):
        self.pad(4)
        self.data += struct.pack("<I", len(text)) + text.encode() + b"\0"

    def text(self, text):
        self.kinds += "s"
        self.raw_text(text)
        return self

    def number(self, number):
        self.kinds += "u"
        self.pad(4)
        self.data += struct.pack("<I", number)
        return self

    def texts(self, texts):
        self.kinds += "as"
        inner = Body()
        for text in texts:
            inner.raw_text(text)
        self.pad(4)
        self.data += struct.pack("<I", len(inner.data)) + inner.data
        return self

    def pairs(self, pairs):
        self.kinds += "a{ss}"
        inner = Body()
        for name, value in pairs.items():
            inner.pad(8)
            inner.raw_text(name)
            inner.raw_text(value)
        self.pad(4)
        self.data += struct.pack("<I", len(inner.data))
        self.pad(8)
        self.data += inner.data
        return self

    def no_options(self):
        self.kinds += "a{sv}"
        self.pad(4)
        self.data += struct.pack("<I", 0)
        self.pad(8)
        return self


class Bus:
    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect("/run/dbus/system_bus_socket")
        self.socket.sendall(b"\0AUTH EXTERNAL " + str(os.geteuid()).encode().hex().encode() + b"\r\n")
        if not self.socket.recv(200).startswith(b"OK"):
            sys.exit("the bus doesn't let this user in")
        self.socket.sendall(b"BEGIN\r\n")
        self.serial = 0
        self.call("Hello", Body(), "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")

    def call(self, member, body, to="org.cgpu1", path="/org/cgpu1", interface="org.cgpu1.Manager"):
        """Ends the program if the answer is an error."""
        self.serial += 1
        fields = b""
        for code, kind, value in ((1, "o", path), (2, "s", interface), (3, "s", member), (6, "s", to), (8, "g", body.kinds)):
            if not value:
                continue
            fields += b"\0" * (-len(fields) % 8) + struct.pack("<BB", code, 1) + kind.encode() + b"\0"
            fields += struct.pack("<B" if kind == "g" else "<I", len(value)) + value.encode() + b"\0"
        head = struct.pack("<cBBBIII", b"l", 1, 0, 1, len(body.data), self.serial, len(fields)) + fields
        self.socket.sendall(head + b"\0" * (-len(head) % 8) + body.data)
        mine = struct.pack("<BB", 5, 1) + b"u\0" + struct.pack("<I", self.serial)
        while True:
            head = self.read(16)
            length, fields = struct.unpack_from("<I", head, 4)[0], struct.unpack_from("<I", head, 12)[0]
            rest = self.read(fields + -fields % 8 + length)
            if mine not in rest[:fields]:
                continue
            if head[1] == 3:
                sys.exit(f"{member}: {rest[fields + -fields % 8:]}")
            return

    def read(self, size):
        data = b""
        while len(data) < size:
            data += self.socket.recv(size - len(data)) or sys.exit("the bus has ended the connection")
        return data


def tell(name):
    """As a front does that gets no driver, and as one that was refused managed memory (core/wire/message.hpp)."""
    link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    link.settimeout(60)
    link.connect(f"/run/cgpu/instances/{name}/link/socket")
    hello, observe, version, notice, refused, unreachable = 1, 2, 3, 8, 1, 5
    link.send(struct.pack("<IIQIIII", hello, 32, 0, version, version, observe, 0))
    link.recv(4096)
    for event, detail in [(unreachable, b"no /proc"), (unreachable, b"no device")] + [(refused, b"cuMemAllocManaged")] * 30:
        link.send(struct.pack("<IIQII64s", notice, 88, 0, event, 0, detail))
    link.shutdown(socket.SHUT_WR)
    link.recv(4096)  # everything was read when cgpud ends the connection


def instance_that_tells(bus, name):
    """Its process is one of its own, with which it ends."""
    begin, go = os.pipe()
    process = os.fork()
    if process == 0:
        os.read(begin, 1)
        tell(name)
        os._exit(0)
    bus.call("CreateInstance", Body().text(name).text("x").pairs({"CGPU_MEM": "1MiB", "CGPU_GPUS": "0"}).no_options())
    bus.call("Attach", Body().text(name).number(process).no_options())
    os.write(go, b"x")
    os.close(begin)
    os.close(go)
    if os.waitpid(process, 0)[1] != 0:
        sys.exit("it could not tell")


def main():
    bus = Bus()
    if sys.argv[1] == "own":
        bus.call("CreateInstance", Body().text(sys.argv[2]).text("own").pairs({"CGPU_MEM": "64MiB"}).no_options())
        bus.call("Attach", Body().text(sys.argv[2]).number(os.getpid()).no_options())
        print("ready", flush=True)
        signal.pause()
    what, count = sys.argv[1], int(sys.argv[2])
    for number in range(count):
        name = f"{os.getpid() << 64 | number << 8 | 0xFA:032x}"
        if what == "read":
            name = f"{number:04x}{os.getpid():08x}{name[12:]}"
        if what == "tell":
            instance_that_tells(bus, name)
        elif what == "unmanaged":
            bus.call("AdmitUnmanaged", Body().text(name).text(f"u{number}").texts([]).no_options())
            bus.call("Attach", Body().text(name).number(int(sys.argv[3])).no_options())
        else:
            wanted = {"CGPU_MEM": "1MiB", "CGPU_GPUS": "0"}
            bus.call("CreateInstance", Body().text(name).text("x").pairs(wanted).no_options())
            if what == "read":
                time.sleep(0.1)  # the tree's names are that old at most
                folder = os.path.join(sys.argv[3], name[:12])
                for file in os.listdir(folder):
                    with open(os.path.join(folder, file)) as text:
                        text.read()
            bus.call("ReleaseInstance", Body().text(name).no_options())
    print("ready" if what == "unmanaged" else count, flush=True)
    if what == "unmanaged":
        signal.pause()


main()
