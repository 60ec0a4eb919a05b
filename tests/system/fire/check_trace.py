#!/usr/bin/env python3
"""Judges a run of the program under_fire by the simulator's trace of what every process held at every instant.

usage: check_trace.py TRACE NAME=LIMIT_BYTES:JOURNAL[:whole|:pools]…

TRACE is what `simgpu trace` printed. Each instance is named as its processes are in the trace; LIMIT_BYTES is its limit
on each GPU, JOURNAL what its processes noted (tests/programs/fire/journal.hpp). The rules:

1. At no instant do the allocations of an instance's processes on a GPU exceed its limit. Contexts and modules come on
   top: nobody knows their size before they are there; the output shows by how much the sum exceeded the limit. Of an instance
   with `:whole` they count as allocations do: for processes whose contexts are no larger than what is reserved for them
   and which load no modules. Of one with `:pools` a pool may have taken too much for a moment, as docs/isolation.md says:
   one allocation, undone within the deadline, unless the process is stopped meanwhile.
2. A request that fits is not refused for longer than the recall deadline. It fits while it and what the instance holds
   or may rightly keep from others are within the limit. May be kept from others, besides what is held:
   - by a process that has begun and has no context yet: the estimate of one;
   - by a process that is stopped, which can't be asked for what it doesn't use: a chunk, what it had asked for when it
     was stopped, and what it had freed so shortly before that it had not yet given it back;
   - the same by a process that was killed, until the driver has freed its memory;
   - by a request that was under way meanwhile and was granted: between the grant and the driver's taking the memory, but
     not longer than half the deadline.
   What was asked for again and again for the deadline or longer, never had, and did fit all through the deadline before
   the last refusal, was refused wrongly. Not judged is what was refused while a stopped process held the simulator's lock:
   then nobody can use a GPU, which real ones don't do.
3. In the end nobody holds anything, and nothing failed that must not.
"""
import collections
import dataclasses
import sys

from history import MIB, Life, Locked, Steps, read_trace

DEADLINE_NS = 200_000_000  # RecallQueue::Settings::deadline
ESTIMATE = 256 * MIB  # etc/cgpud.yaml: context_estimate_mib; no context of the test's cards is larger
GRANTED_NS = DEADLINE_NS // 2
SHOWN = 20  # problems of a kind


@dataclasses.dataclass
class Instance:
    limit: int
    journal: list  # of lists of words
    rule: str = ""  # whole: contexts count; pools: a pool may take too much for a moment


@dataclasses.dataclass
class Verdict:
    problems: list
    facts: list


class Check:
    def __init__(self, instances):
        self.instances = instances
        self.problems = collections.defaultdict(list)  # by kind
        self.facts = []
        self.lives = collections.defaultdict(Life)  # by (name, pid, serial, gpu)
        self.by_pid = collections.defaultdict(list)  # (name, pid, gpu) → lives, in the order of their beginning
        self.claims = collections.defaultdict(Steps)  # by (name, gpu)
        self.moments = collections.defaultdict(list)  # by (name, gpu)
        self.locked = []
        self.stops = collections.defaultdict(list)  # by (name, gpu): from, to

    def replay(self, records):
        held = {}  # (serial, gpu) → record
        allocated = collections.Counter()  # by (name, gpu)
        whole = collections.Counter()
        most_allocated = collections.Counter()
        most_whole = collections.Counter()
        before = 0
        count = 0
        for record in records:
            if isinstance(record, Locked):
                self.locked.append(record)
                continue
            count += 1
            if record.ns < before:
                self.problems["the trace goes back in time"].append(record)
            before = record.ns
            if record.name not in self.instances:
                self.problems["memory of none of the instances"].append(record)
                continue
            key = (record.name, record.gpu)
            old = held.get((record.serial, record.gpu))
            change = record.allocated - (old.allocated if old else 0)
            change_of_other = record.other - (old.other if old else 0)
            held[(record.serial, record.gpu)] = record
            allocated[key] += change
            whole[key] += change + change_of_other
            most_allocated[key] = max(most_allocated[key], allocated[key])
            most_whole[key] = max(most_whole[key], whole[key])
            instance = self.instances[record.name]
            counted = whole[key] if instance.rule == "whole" else allocated[key]
            if instance.rule == "pools":
                self.moment(key, record, counted - instance.limit, change)
            elif (change > 0 or change_of_other > 0) and counted > instance.limit:
                self.problems["beyond the limit"].append(
                    f"{counted} bytes of {record.name} on GPU {record.gpu} by {record}")
            self.claims[key].add(record.ns, change + change_of_other)
            self.note_life(record)
        for record in held.values():
            if record.allocated + record.other != 0:
                self.problems["still held in the end"].append(record)
        self.facts.append(f"{count} records of {len({serial for serial, gpu in held})} processes")
        for key in sorted(most_allocated):
            limit = self.instances[key[0]].limit
            self.facts.append(
                f"{key[0]} on GPU {key[1]}: at most {most_allocated[key] / MIB:.0f} MiB allocated, with contexts "
                f"{most_whole[key] / MIB:.0f} MiB ({max(most_whole[key] - limit, 0) / MIB:.0f} beyond), of "
                f"{limit / MIB:.0f} MiB")

    def moment(self, key, record, beyond, change):
        """Notes the times in which the allocations are beyond the limit, each as [from, to, by how much, largest step]."""
        moments = self.moments[key]
        under_way = moments and moments[-1][1] is None
        if beyond > 0 and not under_way:
            moments.append([record.ns, None, beyond, change])
        elif beyond > 0:
            moments[-1][2] = max(moments[-1][2], beyond)
            moments[-1][3] = max(moments[-1][3], change)
        elif under_way:
            moments[-1][1] = record.ns

    def judge_moments(self, name):
        for key, moments in self.moments.items():
            if key[0] != name or not moments:
                continue
            if moments[-1][1] is None:
                moments[-1][1] = sys.maxsize
            longest = max(end - begin for begin, end, _, _ in moments)
            self.facts.append(f"{name} on GPU {key[1]}: pools took too much {len(moments)} times, at most "
                              f"{max(moment[2] for moment in moments) / MIB:.0f} MiB, for {longest / 1e6:.1f} ms")
            for begin, end, beyond, step in moments:
                stopped = any(start <= end and begin <= stop for start, stop in self.stops[key])
                if beyond > step or (end - begin > DEADLINE_NS and not stopped):
                    self.problems["beyond the limit"].append(
                        f"{beyond} bytes of {name} on GPU {key[1]} from {begin} to {end}")

    def note_life(self, record):
        key = (record.name, record.pid, record.serial, record.gpu)
        if key not in self.lives:
            self.by_pid[(record.name, record.pid, record.gpu)].append(self.lives[key])
        self.lives[key].add(record)

    def life_at(self, name, pid, gpu, born):
        """Return the first life of this pid since it was born, because pids are reused."""
        for life in self.by_pid[(name, pid, gpu)]:
            if life.began >= born:
                return life
        return Life()

    def read_journal(self, name, instance):
        """Adds what may be kept from others to the claims. Return the refusals."""
        births, refusals, killed = collections.defaultdict(list), [], set()
        # Not in the order of the lines: a process may have written one before its parent notes its birth.
        for words in instance.journal:
            if words[0] == "born":
                births[int(words[1])].append(int(words[2]))

        def born(pid, ns):
            return max((birth for birth in births[pid] if birth <= ns), default=0)

        for words in instance.journal:
            if words[0] == "got":
                pid, gpu, begin, end, asked = map(int, words[1:6])
                self.claims[(name, gpu)].keep(max(begin, end - GRANTED_NS), end, asked)
                self.life_at(name, pid, gpu, born(pid, begin)).grants.append((begin, end, asked))
        for words in instance.journal:
            what, pid = words[0], int(words[1])
            if what == "dead":
                gpu, ns, asked, since = map(int, words[2:6])
                killed.add((pid, born(pid, ns)))
                life = self.life_at(name, pid, gpu, born(pid, ns))
                begun = min(life.began or ns, ns)
                self.claims[(name, gpu)].keep(born(pid, ns), begun, ESTIMATE)
                self.claims[(name, gpu)].keep(max(since, ns - GRANTED_NS), ns, asked)
                self.claims[(name, gpu)].keep(ns, life.ended or ns, life.unused(ns, asked))
            elif what == "stopped":
                gpu, begin, end, asked = map(int, words[2:6])
                life = self.life_at(name, pid, gpu, born(pid, begin))
                self.claims[(name, gpu)].keep(begin, end, life.unused(begin, asked))
                self.stops[(name, gpu)].append((begin, end))
            elif what == "refused":
                refusals.append((pid, *map(int, words[2:6]), words[6]))
            elif what not in ("born", "got"):
                self.problems["failed"].append(f"{name}: {' '.join(words)}")
        alive = {(pid, birth) for pid, times in births.items() for birth in times} - killed
        if alive:
            self.problems["not known to be dead"].append(f"{name}: {sorted(alive)}")
        self.facts.append(f"{name}: {len(killed)} processes killed")
        return refusals

    def judge(self, name, refusals):
        limit = self.instances[name].limit
        long = 0
        in_lock = 0
        closest = None
        for pid, gpu, begin, end, bytes_asked, way in refusals:
            if end - begin < DEADLINE_NS:
                continue
            if any(locked.begin <= end and end - DEADLINE_NS <= locked.end for locked in self.locked):
                in_lock += 1
                continue
            long += 1
            room = limit - self.claims[(name, gpu)].most(end - DEADLINE_NS, end)
            lack = bytes_asked - room
            closest = lack if closest is None else min(closest, lack)
            if lack <= 0:
                self.problems["refused although it fits"].append(
                    f"{name}, process {pid}, GPU {gpu}: {bytes_asked / MIB:.0f} MiB ({way}) from {begin} to {end}, "
                    f"when at least {room / MIB:.0f} MiB were free for all of the deadline")
        self.facts.append(f"{name}: {long} requests were refused for the deadline and longer (and {in_lock} that are not "
                          "judged)" + (f"; the closest lacked {closest / MIB:.1f} MiB at some moment of the last one" if long else ""))

    def verdict(self):
        shown = []
        for kind, of_kind in self.problems.items():
            shown += [f"{kind}: {problem}" for problem in of_kind[:SHOWN]]
            if len(of_kind) > SHOWN:
                shown.append(f"{kind}: {len(of_kind) - SHOWN} more")
        return Verdict(shown, self.facts)


def check(trace, instances):
    """trace: an iterable of Records. instances: name → Instance."""
    it = Check(instances)
    it.replay(trace)
    refusals = {name: it.read_journal(name, instance) for name, instance in instances.items()}
    for steps in it.claims.values():
        steps.sum_up()
    for name in instances:
        it.judge_moments(name)
        it.judge(name, refusals[name])
    return it.verdict()


def read_notes(lines):
    """Return the complete lines, as lists of words. A kill can leave only the beginning of a line."""
    return [words[:-1] for words in map(str.split, lines) if words[-1:] == ["."]]


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    instances = {}
    for argument in sys.argv[2:]:
        name, _, rest = argument.partition("=")
        limit, journal, *rule = rest.split(":")
        with open(journal, encoding="utf-8") as file:
            instances[name] = Instance(int(limit), read_notes(file), "".join(rule))
    with open(sys.argv[1], encoding="utf-8") as file:
        verdict = check(read_trace(file), instances)
    print("\n".join(verdict.facts + verdict.problems))
    sys.exit(1 if verdict.problems else 0)


if __name__ == "__main__":
    main()
