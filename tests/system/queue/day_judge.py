"""Judges a day of a lab by what cgpud showed at many moments: whether the first of the queue waited though it might start, and whether
somebody passed another one without a proof. What fits is computed here from the GPUs and instances of the moment, not taken from what
cgpud says of the queue."""
import dataclasses
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "owners"))
from crowd_judge import MIB, Job  # noqa: E402,F401

SECOND = 10**9
REACTS_NS = 4 * SECOND  # cgpud looks every two seconds at what isn't its own; the machine may be loaded
BACK_NS = 8 * SECOND  # after a kill: cgpud is started, and all callers have asked again


@dataclasses.dataclass
class Request(Job):
    """A job that may wait."""

    wait: str = ""  # CGPU_WAIT; empty: it is refused
    time: int = 0  # seconds; 0: it has no time limit
    named: tuple = ()  # GPUs; empty: any


@dataclasses.dataclass
class Sample:
    """One moment, as `cgpuctl describe` has it."""

    ns: int  # when it was known
    node: dict
    begin: int = 0  # when it was asked for

    def queue(self):
        return [each["name"] for each in self.node["queue"]]

    def queued(self, name):
        return next(each for each in self.node["queue"] if each["name"] == name)

    def waits_for(self, name):
        return self.queued(name)["waits_for"]

    def starts_by(self, name):
        """When it starts at the latest, by the time limits of what runs. None: they don't say."""
        within = self.queued(name).get("starts_within_seconds")
        return None if within is None else self.ns + int(within * SECOND)

    def instances(self):
        return {each["name"]: each for each in self.node["instances"]}

    def usable(self):
        return {gpu["index"]: gpu for gpu in self.node["gpus"] if gpu["present"] and not gpu["drained"]}


class Day:
    def __init__(self, jobs, limits, disturbed, passed=()):
        """disturbed: moments of kills, and of GPUs that come and go; limits: as crowd_judge has them; passed: pairs of one that was
        started and one that waited then, and had a bound (bounds_at_starts)."""
        self.jobs, self.limits, self.disturbed, self.passed = {job.name: job for job in jobs}, limits, disturbed, set(passed)

    def narrow_admissions(self, samples):
        """One that waits is admitted after the last moment at which it was seen to wait, and before the first at which it ran: the rules
        of that time count. Returns the jobs with these times."""
        jobs = {name: dataclasses.replace(job) for name, job in self.jobs.items()}
        for sample in samples:
            for name in sample.queue():
                jobs[name].asked = max(jobs[name].asked, sample.begin)
            for name in set(sample.instances()) & set(jobs):
                job = jobs[name]
                job.admitted = min(job.admitted, sample.ns) if job.admitted else 0
        return list(jobs.values())

    def is_calm(self, begin, end):
        return not any(begin - BACK_NS < at < end + SECOND for at in self.disturbed)

    def allowed(self, user, part, ns):
        """The least that a rule may have allowed at that moment. None: anything."""
        most = [rule.of(user, (), part) for rule in self.limits if rule.begin - REACTS_NS <= ns <= rule.end + REACTS_NS]
        most = [each for each in most if each is not None]
        return min(most) if most else None

    def is_limited(self, job, sample):
        """Whether the rules of its owner keep it from starting, who may have asked for others before."""
        own = [each for name, each in sample.instances().items() if name in self.jobs and self.jobs[name].user == job.user]
        memory = sum(place["memory_limit_bytes"] for each in own for place in each["gpus"]) / MIB
        waiting = sample.queue()
        before = waiting[:waiting.index(job.name)] if job.name in waiting else waiting
        asked = [self.jobs[name] for name in before if self.jobs[name].user == job.user]
        memory += sum(each.mib * each.gpus for each in asked)
        instances, mib = (self.allowed(job.user, part, sample.ns) for part in ("instances", "memory"))
        return (instances is not None and len(own) + len(asked) >= instances) or (mib is not None and memory + job.mib * job.gpus > mib)

    @staticmethod
    def has_room(job, gpu, sample):
        there = [place for each in sample.node["instances"] for place in each["gpus"] if place["index"] == gpu["index"]]
        free = (gpu["memory_total_bytes"] - gpu["memory_allocated_bytes"]) // MIB
        return free >= job.mib and len(there) < gpu["max_inst"] and \
            sum(place["weight"] for place in there) + job.slices <= gpu["max_inst"]

    def may_start(self, job, sample):
        usable = sample.usable()
        if job.named and not set(job.named) <= set(usable):
            return False
        fit = [gpu for index, gpu in usable.items() if (not job.named or index in job.named) and self.has_room(job, gpu, sample)]
        return len(fit) >= job.gpus and not self.is_limited(job, sample)

    def judge_idle(self, samples):
        """The first of the queue that isn't kept back by its owner's rules or by GPUs that aren't there starts when it may."""
        wrong, since = [], None
        for sample in samples:
            first = next((self.jobs[name] for name in sample.queue() if not self.is_limited(self.jobs[name], sample)), None)
            if first is None or not self.may_start(first, sample):
                since = None
                continue
            if since is None or since[0] is not first:
                since = first, sample.ns
            elif sample.ns - since[1] > REACTS_NS and self.is_calm(since[1], sample.ns):
                wrong.append(f"{first.name} might start for {(sample.ns - since[1]) / SECOND:.1f} s and waits: "
                             f"{sample.waits_for(first.name)}")
                since = None
        return wrong

    def is_passed_rightly(self, passed, passing, before, after):
        """Of one that waits before and after, and one that has started between."""
        usable = set(before.usable()) & set(after.usable())
        if passing.time or any(self.is_limited(passed, each) for each in (before, after)):
            return True
        if (passing.name, passed.name) in self.passed or any(each.starts_by(passed.name) is not None for each in (before, after)):
            return True  # that bounds are kept is judged, too
        if passed.named and not set(passed.named) <= usable:
            return True
        has = {place["index"] for place in after.instances()[passing.name]["gpus"]}
        return bool(passed.named) and not has & set(passed.named)

    def judge_order(self, samples):
        wrong, passes = [], 0
        for before, after in zip(samples, samples[1:]):
            # Between moments that are far from each other somebody may have been kept back for a while.
            if not self.is_calm(before.ns, after.ns) or after.ns - before.begin > SECOND:
                continue
            waited, there, waits = before.queue(), before.instances(), after.queue()
            for name in after.instances():
                if name in there or name not in self.jobs:
                    continue
                earlier = waited[:waited.index(name)] if name in waited else waited
                for other in earlier:
                    if other not in waits:
                        continue
                    passes += 1
                    if not self.is_passed_rightly(self.jobs[other], self.jobs[name], before, after):
                        wrong.append(f"{name} passed {other}, which waits for: {after.waits_for(other)}")
        return wrong, passes

    def is_orphan(self, name, sample):
        job = self.jobs.get(name)
        return job is not None and 0 < job.ended < sample.begin - SECOND

    def judge_bounds(self, samples):
        """Whoever is the first of the queue starts when the time limits say, whoever has passed it meanwhile."""
        wrong, bounds, kept = [], {}, 0
        for sample in samples:
            waiting = sample.queue()
            # What cgpud had admitted when it was killed, and whose caller hasn't heard it, holds its part for half a minute, without
            # a process that could be ended.
            if any(self.is_orphan(name, sample) for name in sample.instances()):
                bounds.clear()
                continue
            # A bound is for what the limits allowed then.
            for name in [name for name in bounds if name in waiting and self.is_limited(self.jobs[name], sample)]:
                del bounds[name]
            for name in [name for name in bounds if name not in waiting]:
                since, by = bounds.pop(name)
                if not self.is_calm(since, sample.ns):
                    continue
                kept += 1
                if sample.ns > by + REACTS_NS:
                    wrong.append(f"{name} was to start {(sample.ns - by) / SECOND:.1f} s before it did, or left")
            if waiting and not self.is_limited(self.jobs[waiting[0]], sample) and (by := sample.starts_by(waiting[0])) is not None:
                bounds.setdefault(waiting[0], (sample.ns, by))
        return wrong, kept

    def judge_sentences(self, samples):
        """Each one says what it waits for, but in its first moments and after a kill."""
        wrong, first = set(), {}
        for sample in samples:
            for name in sample.queue():
                begin = first.setdefault(name, sample.ns)
                if not sample.waits_for(name) and sample.ns - begin > REACTS_NS and self.is_calm(begin, sample.ns):
                    wrong.add(f"{name} doesn't say what it waits for")
        return sorted(wrong)


LEFT = {"starts after it has waited": "started", "its time to wait is over": "deadline", "its caller has ended": "caller-ended"}


def bounds_at_starts(log):
    """Of each decision in the log of level debug: (who starts, who waits and starts by a known moment at the latest)."""
    pairs = set()
    for line in log.splitlines():
        _, found, decision = line.partition("debug: the queue: ")
        if not found:
            continue
        parts = [re.fullmatch(r"instance \w+ \((user\d\dq\d+)\) (starts|waits for .*)", part) for part in decision.split("; ")]
        starts = [part[1] for part in parts if part and part[2] == "starts"]
        bound = [part[1] for part in parts if part and part[2].endswith("ms at most")]
        pairs |= {(start, waits) for start in starts for waits in bound}
    return pairs


def judge_events(log, day, seen, ends_of):
    """seen: names that waited, with the last moment; ends_of: how the wait of each may have ended. Of what happened in the last moments of a
    cgpud that was killed the log may have nothing."""
    entered, left = set(), {}
    for line in log.splitlines():
        if found := re.search(r"\((user\d\dq\d+)\): (.*)", line):
            name, text = found.groups()
            if text.startswith("waits for its part of a GPU"):
                entered.add(name)
            for sentence, reason in LEFT.items():
                if sentence in text:
                    left[name] = reason
    wrong = []
    for name, last in seen.items():
        if not day.is_calm(day.jobs[name].asked, last + BACK_NS):
            continue
        if name not in entered:
            wrong.append(f"{name} waited, and no event says that it entered the queue")
        elif left.get(name) not in ends_of[name]:
            wrong.append(f"{name}: its wait ended by {' or '.join(sorted(ends_of[name]))}, and the events say {left.get(name)}")
    return wrong
