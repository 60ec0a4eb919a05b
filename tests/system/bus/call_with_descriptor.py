#!/usr/bin/env python3
# call_with_descriptor.py COUNT INTERFACE MEMBER: calls cgpud on the system bus with COUNT descriptors, and prints the name of
# the answer's error, or "answered". busctl can't send descriptors.
import array, os, socket, struct, sys

CALL, ERROR = 1, 3
PATH, INTERFACE, MEMBER, ERROR_NAME, REPLY_SERIAL, DESTINATION, SIGNATURE, FDS = 1, 2, 3, 4, 5, 6, 8, 9


def padded(data, to=8):
    return data + b"\0" * (-len(data) % to)


def message(serial, destination, path, interface, member, descriptors=0):
    values = [(PATH, "o", path), (INTERFACE, "s", interface), (MEMBER, "s", member), (DESTINATION, "s", destination)]
    body = struct.pack(f"<{descriptors}I", *range(descriptors))
    if descriptors:
        values += [(SIGNATURE, "g", "h" * descriptors), (FDS, "u", descriptors)]
    fields = b""
    for code, kind, value in values:
        fields = padded(fields) + struct.pack("<BB", code, 1) + kind.encode() + b"\0"
        if kind == "u":
            fields += struct.pack("<I", value)
        else:
            fields += struct.pack("<B" if kind == "g" else "<I", len(value)) + value.encode() + b"\0"
    return padded(struct.pack("<cBBBIII", b"l", CALL, 0, 1, len(body), serial, len(fields)) + fields) + body


def read_exactly(bus, size):
    data = b""
    while len(data) < size:
        data += bus.recv(size - len(data)) or sys.exit("the bus has ended the connection")
    return data


def text_of(fields, code):
    """The value of a field that is a text."""
    at = 0
    while at < len(fields):
        at += -at % 8
        this, kind = fields[at], fields[at + 2 : at + 3]
        at += 4
        size = 3 if kind == b"u" else fields[at] if kind == b"g" else struct.unpack_from("<I", fields, at)[0]
        begin = at + (1 if kind in (b"u", b"g") else 4)
        if this == code:
            return fields[begin : begin + size].decode()
        at = begin + size + (0 if kind == b"u" else 1)
    return None


def answer_to(bus, serial):
    while True:
        head = read_exactly(bus, 16)
        body, fields = struct.unpack_from("<I", head, 4)[0], struct.unpack_from("<I", head, 12)[0]
        rest = read_exactly(bus, fields + -fields % 8 + body)[:fields]
        if struct.pack("<BB", REPLY_SERIAL, 1) + b"u\0" + struct.pack("<I", serial) in rest:
            return text_of(rest, ERROR_NAME) if head[1] == ERROR else "answered"


def main():
    count, interface, member = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    address = os.environ.get("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/run/dbus/system_bus_socket")
    bus = socket.socket(socket.AF_UNIX)
    bus.settimeout(20)
    bus.connect(address.split("path=")[1].split(",")[0].split(";")[0])
    bus.sendall(b"\0AUTH EXTERNAL " + str(os.geteuid()).encode().hex().encode() + b"\r\n")
    bus.recv(200)
    bus.sendall(b"NEGOTIATE_UNIX_FD\r\n")
    assert bus.recv(200).startswith(b"AGREE"), "this bus takes no descriptors"
    bus.sendall(b"BEGIN\r\n" + message(1, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello"))
    answer_to(bus, 1)
    call = message(2, "org.cgpu1", "/org/cgpu1", interface, member, count)
    with open("/dev/null", "rb") as file:
        descriptors = array.array("i", [file.fileno()] * count)
        bus.sendmsg([call], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)] if count else [])
    print(answer_to(bus, 2))


main()
