"""What processes held over time according to the simulator's trace, and what they may have kept besides."""
import bisect
import dataclasses

MIB = 1 << 20
CHUNK = 32 * MIB  # etc/cgpud.yaml: lease_chunk_mib
GIVE_BACK_NS = 150_000_000  # a front gives back what was freed 100 ms ago; half as much again for its waking up


@dataclasses.dataclass
class Record:
    ns: int
    serial: int
    pid: int
    gpu: int
    other: int  # contexts and modules
    allocated: int
    name: str


@dataclasses.dataclass
class Locked:
    """A stopped process kept all others from the GPUs: no call of the driver returned."""

    begin: int
    end: int


def read_trace(lines):
    for line in lines:
        if line.startswith("locked "):
            end, duration = map(int, line.split()[1:])
            yield Locked(end - duration, end)
            continue
        words = line.rstrip("\n").split(" ", 7)
        ns, serial, pid, gpu, contexts, modules, allocated = map(int, words[:7])
        yield Record(ns, serial, pid, gpu, contexts + modules, allocated, words[7])


class Steps:
    """A sum over time, made of changes that are added in any order."""

    def __init__(self):
        self.changes = []

    def add(self, ns, change):
        self.changes.append((ns, change))

    def keep(self, begin, end, amount):
        if end > begin and amount > 0:
            self.add(begin, amount)
            self.add(end, -amount)

    def sum_up(self):
        # Of changes at one instant, the falling ones come last: what is kept is never counted too low.
        self.changes.sort(key=lambda change: (change[0], -change[1]))
        self.times, self.sums, total = [], [], 0
        for ns, change in self.changes:
            total += change
            self.times.append(ns)
            self.sums.append(total)

    def most(self, begin, end):
        """Return the largest sum from begin to end, both included."""
        first = bisect.bisect_right(self.times, begin) - 1
        last = bisect.bisect_right(self.times, end)
        if last == 0:
            return 0
        return max(self.sums[max(first, 0):last])


class Life:
    """What one process held on one GPU."""

    def __init__(self):
        self.times, self.allocated = [], []
        self.grants = []  # requests that were waited for: from, to, bytes
        self.began = None  # it held something first
        self.ended = None  # it held nothing any more

    def add(self, record):
        self.times.append(record.ns)
        self.allocated.append(record.allocated)
        if self.began is None:
            self.began = record.ns
        self.ended = record.ns if record.allocated + record.other == 0 else None

    def unused(self, ns, asked):
        """Return the most that it may have leased at this instant without using it."""
        unused = CHUNK
        for at in range(max(bisect.bisect_left(self.times, ns - GIVE_BACK_NS), 1), bisect.bisect_right(self.times, ns)):
            change = self.allocated[at] - self.allocated[at - 1]
            # What is taken comes out of what is unused, unless more was asked for before that was freed.
            if change < 0 or not self.was_granted(self.times[at], change):
                unused = max(unused - change, 0)
        return max(unused, CHUNK) + asked

    def was_granted(self, ns, size):
        return any(begin <= ns <= end and granted == size for begin, end, granted in self.grants)
