"""Ways in which a file may not be what cgpud left there. Each takes the file's path, an older copy, and a source of chance, puts
the other one there, and returns what it did, in words."""
import os
import socket


def truncated(path, _older, chance):
    size = path.stat().st_size
    left = chance.randrange(size)
    with path.open("r+b") as file:
        file.truncate(left)
    return f"truncated to {left} of {size} bytes"


def flipped(path, _older, chance):
    content = bytearray(path.read_bytes())
    # Not in what is empty: that is most of some files, and judged by a few flips.
    used = [place for place, byte in enumerate(content) if byte not in (0, 32)]
    place = chance.choice(used) if used and chance.random() < 0.9 else chance.randrange(len(content))
    bit = chance.randrange(8)
    content[place] ^= 1 << bit
    write(path, content)
    return f"bit {bit} of byte {place} flipped, near {bytes(content[max(place - 24, 0):place + 12])!r}"


def zeroed(path, _older, chance):
    content = bytearray(path.read_bytes())
    size = chance.choice((16, 64, 512, 4096))
    # Blocks begin at multiples of their size.
    begin = chance.randrange((len(content) + size - 1) // size) * size
    content[begin:begin + size] = bytes(len(content[begin:begin + size]))
    write(path, content)
    return f"{size} zeros at {begin}"


def doubled(path, _older, _chance):
    content = path.read_bytes()
    write(path, content + content)
    return "twice its content"


def emptied(path, _older, _chance):
    write(path, b"")
    return "empty"


def missing(path, _older, _chance):
    path.unlink()
    return "not there"


def older(path, copy, _chance):
    write(path, copy)
    return "an older copy of itself"


def another_kind(path, _older, chance):
    path.unlink()
    kind = chance.choice(("pipe", "folder", "socket", "device", "loop", "nowhere"))
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as its:
            its.bind(str(path))
    else:
        path.symlink_to({"device": "/dev/zero", "loop": path.name, "nowhere": "/nonexistent/file"}[kind])
    return f"a {kind} in its place"


def write(path, content):
    """In place: who has it open has this content."""
    with path.open("r+b") as file:
        file.write(content)
        file.truncate()


# As often as they come.
WAYS = [flipped] * 9 + [truncated] * 4 + [zeroed] * 4 + [another_kind] * 3 + [older] * 2 + [doubled, emptied, missing]
