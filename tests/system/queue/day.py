#!/usr/bin/env python3
"""Twelve users of four GPUs, and an administrator who kills cgpud, changes the limits, and lets a GPU and the clock jump.
usage: day.py users             prints the users' names
       day.py run FOLDER SECONDS SEED
FOLDER has the script `restart`, which kills cgpud and starts it again; with the argument `hour` with a clock an hour ahead.
"""
import collections
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import threading
import time

from day_judge import SECOND, Day, Request, Sample, bounds_at_starts, judge_events

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "owners"))
from crowd_judge import Crowd, Limits, judge_rules, read_trace  # noqa: E402

USERS = [f"user{number:02}" for number in range(1, 13)]
GPUS = 4
FLOODER = "user11"
LIMITS = pathlib.Path("/etc/cgpu/cgpud.yaml.d/50-limits.yaml")
LAB = pathlib.Path(os.environ.get("CGPU_LAB", "/run/cgpu-lab"))
RULE = {"instances": 5, "memory": 24000}


def now():
    return time.monotonic_ns()


def output_of(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout


class Kind:
    """What a user's jobs are like: how many at a time, MiB, seconds, and what becomes of them."""

    def __init__(self, at_once, mib, seconds, timed, waits, overtime=0.0, two_gpus=0.0):
        self.at_once, self.mib, self.seconds, self.timed, self.waits = at_once, mib, seconds, timed, waits
        self.overtime, self.two_gpus = overtime, two_gpus


NOTEBOOK = Kind(1, (1000, 3000), (8, 20), 0.5, ("forever",))
BATCH = Kind(3, (2000, 15000), (1, 6), 0.6, ("forever", "forever", "forever", "4s", ""), two_gpus=0.15)
FLOOD = Kind(20, (500, 1500), (0.5, 1), 0.3, ("forever",))
OVERTIME = Kind(2, (1000, 6000), (2, 4), 1, ("forever", "5s"), overtime=1)
KINDS = {user: NOTEBOOK for user in USERS[:4]} | {user: BATCH for user in USERS[4:10]} | {FLOODER: FLOOD, "user12": OVERTIME}


class User(threading.Thread):
    """Asks for jobs, which end by themselves."""

    def __init__(self, run, name):
        super().__init__()
        self.run_, self.user, self.kind = run, name, KINDS[name]
        self.chance = random.Random(f"{run.seed}/{name}")
        self.open, self.jobs = {}, []  # name -> process

    def run(self):
        try:
            while not self.run_.over.is_set():
                self.collect()
                if len(self.open) < self.kind.at_once:
                    self.ask()
                elif self.kind is BATCH and self.chance.random() < 0.02:
                    self.interrupt()
                self.run_.over.wait(self.chance.uniform(0.2, 1.5) / (4 if self.kind is FLOOD else 1))
            if self.kind is FLOOD:  # the flood ends with the day
                for process in self.open.values():
                    self.send(process, signal.SIGKILL)
            ends = time.monotonic() + 120
            while self.open and time.monotonic() < ends:
                self.collect()
                time.sleep(0.2)
            self.run_.wrong += [f"{name} still waits or runs two minutes after the day" for name in self.open]
        except Exception as error:  # pylint: disable=broad-except
            self.run_.wrong.append(f"{self.user}: {error!r}")
        for process in self.open.values():
            self.send(process, signal.SIGKILL)

    @staticmethod
    def send(process, how):
        try:
            os.killpg(process.pid, how)
        except ProcessLookupError:
            pass

    def interrupt(self):
        """Ctrl-C, of one that waits."""
        name = self.chance.choice(sorted(self.open))
        if "up " not in self.run_.said(name):
            self.run_.interrupted.add(name)
            self.send(self.open[name], signal.SIGINT)

    def collect(self):
        for name in [name for name, process in self.open.items() if process.poll() is not None]:
            job = next(job for job in self.jobs if job.name == name)
            job.ended, status = now(), self.open.pop(name).returncode
            said = self.run_.said(name)
            if begun := re.search(r"^up ([0-9.]+)", said, re.MULTILINE):
                job.admitted = int(float(begun.group(1)) * SECOND)
            else:
                job.refusal = said or f"no word, status {status}"

    def ask(self):
        low, high = self.kind.mib
        mib = self.chance.randrange(low, high)
        gpus = 2 if self.chance.random() < self.kind.two_gpus else 1
        named = tuple(sorted(self.chance.sample(range(GPUS), gpus))) if gpus > 1 or self.chance.random() < 0.2 else ()
        seconds = self.chance.uniform(*self.kind.seconds)
        timed = self.chance.random() < self.kind.timed
        limit = 0 if not timed else max(int(seconds), 1) if self.kind.overtime else int(seconds) + 4
        name = f"{self.user}q{len(self.jobs):04}"
        job = Request(name, self.user, mib, 1, gpus, now(), wait=self.chance.choice(self.kind.waits), time=limit, named=named)
        flags = ["--mem", f"{mib}MiB", "--name", name]
        if named:
            flags += ["--gpus", ",".join(map(str, named))]
        if job.wait:
            flags += ["--wait" if job.wait == "forever" else f"--wait={job.wait}"]
        if limit:
            flags += ["--time", f"{limit}s"]
        # By its name the simulator's trace tells whose a process is.
        self.run_.path(name).symlink_to(self.run_.burn)
        runs = 60 if self.kind.overtime else seconds
        burn = f"timeout {runs:.1f} {self.run_.path(name)} --forever --kernel-us 2000 --mib {mib - 200} --device"
        work = f"{burn} 0" if gpus == 1 else f"{burn} 0 & {burn} 1; wait"
        with open(self.run_.path(f"{name}.out"), "w", encoding="utf-8") as out:
            self.open[name] = subprocess.Popen(
                ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--init-groups", "cgpuctl", "run", *flags, "--",
                 "sh", "-c", f"echo up $(cut -d ' ' -f 1 /proc/uptime); {work}"],
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        self.jobs.append(job)


class PolkitWatch(threading.Thread):
    """polkit 122 misses a wake-up now and then, and answers nobody for 15 seconds (its thread for rules ends before it is waited for).
    No caller but root gets further meanwhile, which says nothing about the queue."""

    QUESTION = ["busctl", "--timeout=60", "call", "org.freedesktop.PolicyKit1", "/org/freedesktop/PolicyKit1/Authority",
                "org.freedesktop.PolicyKit1.Authority", "CheckAuthorization", "(sa{sv})sa{ss}us", "unix-process", "2", "pid", "u", "1",
                "start-time", "t", "0", "org.cgpu1.run", "0", "0", ""]

    def __init__(self, run):
        super().__init__(daemon=True)
        self.run_, self.stalls = run, 0

    def run(self):
        while True:
            begin = now()
            answered = subprocess.run(self.QUESTION, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0
            if not answered or now() - begin > SECOND:
                self.stalls += 1
                self.run_.disturbed += range(begin, now() + SECOND, SECOND)
            time.sleep(0.3)


class Run:
    def __init__(self, folder, seconds, seed):
        self.folder, self.seconds, self.seed = pathlib.Path(folder), seconds, seed
        self.chance = random.Random(seed)
        self.burn = output_of("sh", "-c", "command -v burn").strip()
        self.over = threading.Event()
        self.wrong, self.limits, self.disturbed, self.samples, self.interrupted = [], [], [], [], set()
        self.users = [User(self, user) for user in USERS]
        self.explained = collections.Counter()
        self.polkit = PolkitWatch(self)

    def path(self, name):
        return self.folder / name

    def said(self, name):
        return self.path(f"{name}.out").read_text(encoding="utf-8", errors="replace").strip()

    def look(self):
        begin = now()
        described = subprocess.run(["cgpuctl", "describe"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
        if described.returncode == 0:
            self.samples.append(Sample(now(), json.loads(described.stdout), begin))

    def explain(self):
        """What `why` says of one that waits."""
        queue = self.samples[-1].queue() if self.samples else []
        if not queue:
            return
        why = subprocess.run(["cgpuctl", "why", self.chance.choice(queue), "--seconds", "1"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, check=False)
        if why.returncode == 0 and re.search(r"^Waits for: +\S", why.stdout, re.MULTILINE):
            self.explained["waits"] += 1
        else:  # it has started or left meanwhile
            self.explained["else"] += 1

    def reload(self, rule=None):
        before = self.times_read()
        rule = rule or {"instances": self.chance.randint(2, 6), "memory": self.chance.randrange(14000, 34000)}
        limits = Limits(rule, {}, {FLOODER: {"instances": self.chance.randint(2, 5)}}, now())
        LIMITS.write_text(limits.yaml(), encoding="utf-8")
        os.kill(int((LAB / "cgpud.pid").read_text(encoding="utf-8")), signal.SIGHUP)
        while self.times_read() <= before:
            time.sleep(0.1)
        self.limits[-1].end = now()
        self.limits.append(limits)

    @staticmethod
    def times_read():
        return json.loads(output_of("cgpuctl", "status", "--json"))["event_counts"].get("configuration-read", 0)

    def restart(self, *how):
        self.disturbed.append(now())
        subprocess.run(["bash", self.folder / "restart", *how], check=True)
        self.disturbed.append(now())

    def gpu(self, what):
        self.disturbed.append(now())
        output_of("simgpu", what, "3")

    def plan(self):
        """(part of the day, what happens then)"""
        plan = [(0.3, lambda: self.gpu("lose")), (0.45, lambda: self.gpu("return")), (0.55, lambda: self.restart("hour")), (0.75, self.restart)]
        kills = max(int(self.seconds / 60), 1)
        plan += [(self.chance.uniform(0.05, 0.95), self.restart) for _ in range(kills)]
        plan += [(self.chance.uniform(0.05, 0.95), self.reload) for _ in range(2 * kills)]
        return sorted(plan, key=lambda each: each[0])

    def live(self):
        self.limits.append(Limits(RULE, {}, {FLOODER: {"instances": 3}}, now()))
        LIMITS.write_text(self.limits[0].yaml(), encoding="utf-8")
        self.restart()
        self.polkit.start()
        for user in self.users:
            user.start()
        begin, plan, next_why = time.monotonic(), self.plan(), 0
        while (passed := time.monotonic() - begin) < self.seconds:
            self.look()
            while plan and plan[0][0] * self.seconds <= passed:
                plan.pop(0)[1]()
            if passed > next_why:
                self.explain()
                next_why = passed + 5
            time.sleep(0.3)
        self.over.set()
        self.reload({"instances": 8, "memory": 2 * 16130})  # in the end each may start
        while any(user.is_alive() for user in self.users):
            self.look()
            time.sleep(0.3)


def ends_of(run, jobs, seen):
    """How the wait of each ended, by what its command did and said."""
    ends = {}
    for name in seen:
        said = run.said(name)
        if jobs[name].admitted:
            ends[name] = {"started"}
        elif name in run.interrupted:  # perhaps in the moment of its start or deadline, before a word was said
            ends[name] = {"caller-ended", "started", "deadline"}
        elif "it has waited" in said:
            ends[name] = {"deadline"}
        else:
            ends[name] = {"caller-ended"}
    return ends


def main(folder, seconds, seed):
    run = Run(folder, float(seconds), seed)
    run.live()
    jobs = {job.name: job for user in run.users for job in user.jobs}
    log = output_of("lab-log")
    day = Day(jobs.values(), run.limits, run.disturbed, bounds_at_starts(log))
    run.path("trace").write_text(output_of("simgpu", "trace"), encoding="utf-8")
    crowd = Crowd({user: () for user in USERS}, run.limits, day.narrow_admissions(run.samples))
    with open(run.path("trace"), encoding="utf-8", errors="replace") as lines:
        wrong, nearest = judge_rules(read_trace(lines), crowd)
    order, passes = day.judge_order(run.samples)
    late, bounds = day.judge_bounds(run.samples)
    wrong += order + late + day.judge_idle(run.samples) + day.judge_sentences(run.samples)
    seen = {name: sample.ns for sample in run.samples for name in sample.queue()}
    ends = ends_of(run, jobs, seen)
    # Of whoever floods, events are held back.
    told = {name: last for name, last in seen.items() if jobs[name].user != FLOODER}
    wrong += judge_events(log, day, told, ends)
    waits = sorted((jobs[name].admitted - first) / SECOND for name, first in first_seen(run).items() if jobs[name].admitted)
    print(f"{len(jobs)} requests, {sum(1 for job in jobs.values() if job.admitted)} started, {len(seen)} waited "
          f"({', '.join(f'{reason} {number}' for reason, number in sorted(collections.Counter(min(each) for each in ends.values()).items()))}), seed {seed}")
    print(f"{len(run.samples)} moments, {max(len(sample.queue()) for sample in run.samples)} in the queue at most, {passes} passes, {bounds} bounds, "
          f"{len(run.disturbed)} disturbed moments, {run.polkit.stalls} stalls of polkit, {len(run.limits)} limits; "
          f"waited {waits[len(waits) // 2]:.1f} s (median), {waits[-1]:.1f} s at most")
    print(f"nearest to a limit: {', '.join(f'{part} {per_cent:.0f} %' for part, per_cent in nearest.items() if per_cent)}; "
          f"why explained {run.explained['waits']} waits")
    # A cgpud that is away, and lost GPUs, explain it; others are for what could never fit.
    others = collections.Counter(re.sub(r"[0-9a-f]{12}|\d+", "N", job.refusal.splitlines()[-1])[:90] for job in jobs.values()
                                 if job.refusal and job.name not in seen and job.wait)
    print("refused though it may wait: " + "; ".join(f"{text} ({number})" for text, number in others.items()))
    wrong += run.wrong
    if passes == 0 or not seen or run.explained["waits"] == 0:
        wrong.append("nothing was judged")
    if wrong:
        sys.exit("\n".join(wrong[:20]))


def first_seen(run):
    first = {}
    for sample in run.samples:
        for name in sample.queue():
            first.setdefault(name, sample.ns)
    return first


if sys.argv[1] == "users":
    print("\n".join(USERS))
else:
    main(*sys.argv[2:])
