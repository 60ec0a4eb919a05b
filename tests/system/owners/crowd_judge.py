"""Judges by the simulator's trace whether a user ever had more than a rule allows, and by its ledger whether the report is right.

A rule holds for new jobs only, so what a user has at any moment is judged by the rule that was in force when the newest of the
jobs that live then was admitted: all others were there already. What a rule said during an admission is known only as far as the
moments at which the files were written and read: the most generous one of the time counts.
"""
import collections
import dataclasses
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "fire"))
from history import MIB, Locked, read_trace  # noqa: E402,F401

PARTS = ("instances", "gpus", "memory", "memory_per_gpu", "compute")
SLICES = 20  # of a GPU


@dataclasses.dataclass
class Job:
    name: str
    user: str
    mib: int  # on each of its GPUs
    slices: int
    gpus: int  # how many
    asked: int  # when, in nanoseconds
    admitted: int = 0  # by then; 0: it wasn't
    ended: int = 0
    refusal: str = ""


@dataclasses.dataclass
class Limits:
    """What the configuration says, and when it may have been in force."""

    default: dict
    groups: dict
    users: dict
    begin: int  # the file was being written
    end: int = 1 << 63  # another one was surely in force

    def of(self, user, groups, part):
        """The narrowest rule: the user's, the strictest of the groups, the default. None: no limit."""
        if part in self.users.get(user, {}):
            return self.users[user][part]
        of_groups = [self.groups[group][part] for group in groups if part in self.groups.get(group, {})]
        return min(of_groups) if of_groups else self.default.get(part)

    def yaml(self):
        units = {"memory": "MiB", "memory_per_gpu": "MiB", "compute": "%"}

        def rule(parts):
            return "{" + ", ".join(f"{part}: {most}{units.get(part, '')}" for part, most in parts.items()) + "}"

        lines = ["limits:", f"  default: {rule(self.default)}"]
        for kind, rules in (("groups", self.groups), ("users", self.users)):
            lines += [f"  {kind}:"] + [f"    {name}: {rule(parts)}" for name, parts in rules.items()]
        return "\n".join(lines) + "\n"


class Crowd:
    """The users with their groups, their jobs, and what was allowed when."""

    def __init__(self, groups_of, limits, jobs):
        self.groups_of, self.limits = groups_of, limits
        self.jobs = {job.name: job for job in jobs}

    def most(self, job, part):
        """The most that may have been allowed to the job's user while it was admitted. None: anything."""
        allowed = [limits.of(job.user, self.groups_of[job.user], part) for limits in self.limits
                   if limits.begin <= job.admitted and limits.end >= job.asked]
        return None if None in allowed else max(allowed)

    @staticmethod
    def newest(living):
        """Those of them that may have been admitted last."""
        last = max(job.asked for job in living)
        return [job for job in living if job.admitted >= last]


def excesses(held, crowd):
    """What one user has by what the jobs hold ({(job, gpu): bytes}) and may have: (part, had, allowed), without what has no limit."""
    living = [crowd.jobs[name] for name in {name for name, _ in held}]

    def compare(part, had, jobs):
        allowed = [crowd.most(each, part) for each in crowd.newest(jobs)]
        return [] if None in allowed else [(part, had, max(allowed))]

    found = compare("instances", len(living), living) + compare("memory", sum(held.values()) / MIB, living)
    for gpu in {gpu for _, gpu in held}:
        jobs = [each for each in living if (each.name, gpu) in held]
        found += compare("memory_per_gpu", sum(held[each.name, gpu] for each in jobs) / MIB, jobs)
        found += compare("compute", sum(each.slices for each in jobs) * 100 / SLICES, jobs)
    return found


def judge_rules(records, crowd):
    """Returns what is wrong, a text each, and for each part how near to its limit somebody came, in per cent."""
    wrong, nearest = [], dict.fromkeys(PARTS, 0)
    processes, held = {}, collections.defaultdict(collections.Counter)
    last_held = {}  # (user, GPU) -> when
    seen = set()  # places
    for record in records:
        if isinstance(record, Locked) or record.name not in crowd.jobs:
            continue
        job = crowd.jobs[record.name]
        its = held[job.user]
        place = (job.name, record.gpu)
        its[place] -= processes.pop((record.serial, record.gpu), 0)
        if bytes_ := record.other + record.allocated:
            processes[record.serial, record.gpu] = bytes_
        its[place] += bytes_
        found = []
        # The number of GPUs is judged when a job brings in another one; who has too many by a former rule may use those.
        used_by_others = {gpu for (name, gpu), each in its.items() if each and name != job.name}
        is_another = record.gpu not in used_by_others and last_held.get((job.user, record.gpu), 0) < job.asked
        if bytes_ and place not in seen and is_another:
            allowed = crowd.most(job, "gpus")
            had = len({gpu for (_, gpu), each in its.items() if each})
            found += [] if allowed is None else [("gpus", had, allowed)]
        seen.add(place)
        for _, gpu in its:
            last_held[job.user, gpu] = record.ns
        if its[place] > job.mib * MIB:
            wrong.append(f"{job.name} held {its[place] / MIB} MiB, its limit is {job.mib} MiB")
        if not its[place]:
            del its[place]
        if not its or not bytes_:
            continue
        if not job.admitted:
            wrong.append(f"{job.name} held memory, and was never admitted")
            continue
        for part, had, allowed in found + excesses(its, crowd):
            nearest[part] = max(nearest[part], had * 100 / allowed)
            if had > allowed:
                names = ", ".join(sorted({name for name, _ in its}))
                wrong.append(f"{job.user} had {part} {had:.0f} of {allowed} at {record.ns}: {names}")
    if processes:
        wrong.append(f"something is held at the end: {processes}")
    return wrong, nearest


class Use:
    """GPU time by the ledger, looked at again and again: it forgets processes that ended long ago."""

    def __init__(self, user_of):
        self.user_of = user_of  # of the name of a process; None: of nobody here
        self.processes, self.looks = {}, []

    def look(self, ns, ledger):
        for process in ledger["processes"]:
            if (user := self.user_of(process["comm"])) is not None:
                self.processes[process["serial"]] = user, sum(gpu["gpu_ns"] for gpu in process["gpus"])
        seconds = collections.Counter()
        for user, gpu_ns in self.processes.values():
            seconds[user] += gpu_ns / 1e9
        self.looks.append((ns, seconds))

    def at(self, ns, after):
        """The GPU seconds of users at a moment: of the last look before it, or of the first one after it."""
        if after:
            return next((seconds for at, seconds in self.looks if at >= ns), self.looks[-1][1])
        return next((seconds for at, seconds in reversed(self.looks) if at <= ns), collections.Counter())


@dataclasses.dataclass
class Kill:
    begin: int  # cgpud was killed
    end: int  # and is back: it measures again


def most_lost(use, kills, interval_ns, user):
    """What the ledger has of the user in the time around kills that no record can be of: since the last interval ended, until the next
    cgpud measures."""
    lost, counted_until = 0, 0
    for kill in kills:
        begin = max(kill.begin - interval_ns, counted_until)
        lost += use.at(kill.end, True)[user] - use.at(begin, False)[user]
        counted_until = kill.end
    return lost


def judge_report(had, reported, lost, part, least):
    """What is wrong with the report's GPU seconds of users: it has at most what the ledger has, and of that all but what was lost, within
    this part, and so many seconds."""
    wrong = []
    for user, seconds in had.items():
        slack = seconds * part + least
        if not seconds - lost.get(user, 0) - slack <= reported.get(user, 0) <= seconds + slack:
            wrong.append(f"{user}: reported {reported.get(user, 0):.2f} s, the ledger has {seconds:.2f} s, "
                         f"of which {lost.get(user, 0):.2f} s may be lost")
    return wrong
