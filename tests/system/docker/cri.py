"""Calls of the Container Runtime Interface (CRI v1) to containerd's socket: gRPC by curl, protobuf by hand.

usage: cri.py SOCKET SERVICE/METHOD REQUEST: REQUEST is a JSON object of field numbers, as in Kubernetes' api.proto; numbers are
varints, strings texts, objects messages, and lists repeated fields. Prints the answer's fields as `NUMBER TEXT`, a line each; exit
status 1 and gRPC's message if the call failed.
"""
import json
import subprocess
import sys
import tempfile
import urllib.parse


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, value):
    if isinstance(value, list):
        return b"".join(field(number, each) for each in value)
    if isinstance(value, (bool, int)):
        return varint(number << 3) + varint(int(value))
    content = message(value) if isinstance(value, dict) else value.encode()
    return varint(number << 3 | 2) + varint(len(content)) + content


def message(fields):
    return b"".join(field(int(number), value) for number, value in fields.items())


def read_varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at


def fields_of(data):
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        if key & 7 == 0:
            value, at = read_varint(data, at)
            yield key >> 3, str(value)
        else:  # of a length: texts and messages; the answers that are read here have nothing else
            length, at = read_varint(data, at)
            yield key >> 3, data[at:at + length].decode(errors="replace")
            at += length


def main():
    socket, method, request = sys.argv[1:]
    content = message(json.loads(request))
    with tempfile.NamedTemporaryFile() as heads:
        answer = subprocess.run(
            ["curl", "-sS", "--max-time", "60", "--http2-prior-knowledge", "--unix-socket", socket, "-D", heads.name,
             "-H", "content-type: application/grpc", "-H", "te: trailers", "--data-binary", "@-",
             f"http://localhost/runtime.v1.{method}"],
            input=b"\0" + len(content).to_bytes(4, "big") + content, stdout=subprocess.PIPE, check=True).stdout
        lines = dict(line.split(": ", 1) for line in heads.read().decode().splitlines() if ": " in line)
    if lines.get("grpc-status") != "0":
        sys.exit(urllib.parse.unquote(lines.get("grpc-message", f"no answer: {lines}")))
    for number, text in fields_of(answer[5:]):
        print(number, text)


main()
