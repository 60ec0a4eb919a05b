"""The file of cgpud's history (core/history), read and written without cgpu's code.

ring.py fill FILE COUNT    puts so many records of an instance `old` into it, as of 30 days ago
ring.py count FILE NAME    prints how many whole records there are whose name begins with NAME
ring.py overwrite FILE     puts records of an instance `newer` in the places of all, as of now
ring.py damage FILE        changes a byte of the header and one of each of the two oldest records
"""
import struct
import sys
import time

WIDTH = 512


TABLE = []
for entry in range(256):
    for _ in range(8):
        entry = entry >> 1 ^ (0x82F63B78 if entry & 1 else 0)
    TABLE.append(entry)


def checksum(data):
    """CRC-32C."""
    rest = 0xFFFFFFFF
    for byte in data:
        rest = TABLE[(rest ^ byte) & 0xFF] ^ rest >> 8
    return rest ^ 0xFFFFFFFF


def record(number, begin_us, name):
    figures = struct.pack("<11Q", number, begin_us, 60_000_000, 10**9, 0, 10**9, 0, 1, 0, 1 << 30, 1 << 20)
    body = (figures + struct.pack("<QI16s", 1, 0, bytes(16))).ljust(120, b"\0")
    body += b"id-of-old".ljust(128, b"\0") + name.encode().ljust(256, b"\0")
    return (b"cgH1" + struct.pack("<I", checksum(body)) + body).ljust(WIDTH, b"\0")


def name_in(place):
    """Of a record of today's layout, or of a former one (which record() writes)."""
    if place[:4] == b"cgH1":
        return place[256:511].split(b"\0")[0].decode()
    instance, declared, name = place[172:175]
    begin = 175 + instance + declared
    return place[begin:begin + name].decode()


def whole_records(data):
    for at in range(WIDTH, len(data) - WIDTH + 1, WIDTH):
        place = data[at:at + WIDTH]
        if place[:4] in (b"cgH1", b"Hcg3") and struct.unpack_from("<I", place, 4)[0] == checksum(place[8:]):
            number = struct.unpack_from("<Q", place, 8)[0]
            yield number, at, name_in(place)


def main():
    what, path = sys.argv[1:3]
    with open(path, "rb") as file:
        data = bytearray(file.read())
    if what == "fill":
        count = int(sys.argv[3])
        data = data.ljust(WIDTH * (count + 1), b"\0")
        month_ago = int(time.time() - 30 * 86400) * 1_000_000
        for number in range(1, count + 1):
            at = WIDTH * number
            body = record(number, month_ago + number * 60_000_000, "old")
            assert len(body) == WIDTH, len(body)
            data[at:at + WIDTH] = body
    elif what == "overwrite":
        places = struct.unpack_from("<Q", data, 16)[0]
        data = data[:WIDTH].ljust(WIDTH * (places + 1), b"\0")
        now = int(time.time()) * 1_000_000
        for place in range(places):
            data[WIDTH * (place + 1):WIDTH * (place + 2)] = record(places + 1 + place, now, "newer")
    elif what == "count":
        print(sum(name.startswith(sys.argv[3]) for _, _, name in whole_records(data)))
        return
    elif what == "damage":
        data[5] ^= 0x40
        for _, at, _ in sorted(whole_records(data))[:2]:
            data[at + 100] ^= 1
    else:
        sys.exit(__doc__)
    with open(path, "r+b") as file:
        file.write(data)


main()
