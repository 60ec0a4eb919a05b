#!/usr/bin/env python3
"""Twelve users, who start and end jobs at random, and an administrator, who changes the limits and kills cgpud.
usage: crowd.py users             prints a line for each user: name and groups
       crowd.py run FOLDER SECONDS SEED
FOLDER has the script `restart`, which kills cgpud and starts it again. In the first third of the time cgpud isn't killed.
"""
import collections
import json
import os
import pathlib
import pwd
import random
import re
import signal
import subprocess
import sys
import threading
import time

from crowd_judge import PARTS, SLICES, Crowd, Job, Kill, Limits, Use, judge_report, judge_rules, most_lost, read_trace

GROUPS = ("students", "research", "guests")
USERS = {f"user{number:02}": [GROUPS[number % 3]] + (["night"] if number % 4 == 0 else []) for number in range(1, 13)}
GPUS = 4
MOST_JOBS = 40
INTERVAL_NS = 2_000_000_000  # history_interval_s of crowd.sh
SETTLED_NS = 4_000_000_000  # all jobs are back, and what they launched while there was no cgpud has drained
LIMITS = pathlib.Path("/etc/cgpu/cgpud.yaml.d/50-limits.yaml")
PID = pathlib.Path(os.environ.get("CGPU_LAB", "/run/cgpu-lab")) / "cgpud.pid"


def now():
    return time.monotonic_ns()


def output_of(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout


def draw_limits(chance):
    """Other limits, all of which somebody meets."""
    def rule(parts, generous):
        most = {"instances": chance.randint(2, 4) + generous, "gpus": chance.randint(1, 3) + generous,
                "memory": chance.randrange(2000, 5000) * (1 + generous), "memory_per_gpu": chance.randrange(1500, 4000) * (1 + generous),
                "compute": chance.choice((10, 15, 20, 25, 40)) + 20 * generous}
        return {part: most[part] for part in PARTS if part in parts}

    def some():
        return chance.sample(PARTS, chance.randint(1, 3))

    return Limits(rule(PARTS, 1), {group: rule(some(), chance.randint(0, 1)) for group in (*GROUPS, "night")},
                  {user: rule(some(), 1) for user in chance.sample(sorted(USERS), 4)}, now())


class User(threading.Thread):
    """Starts jobs and ends them. What a job asks for is at random, and often too much."""

    def __init__(self, crowd, name, seed):
        super().__init__()
        self.crowd, self.user, self.chance = crowd, name, random.Random(f"{seed}/{name}")
        self.account = pwd.getpwnam(name)
        self.running = {}  # name -> (process, job)
        self.jobs = []

    def run(self):
        try:
            while not self.crowd.over.is_set():
                for name in [name for name, (process, _) in self.running.items() if process.poll() is not None]:
                    self.crowd.wrong.append(f"{name} ended by itself, with {self.running[name][0].returncode}: {self.said(name)}")
                    self.end(name)
                if self.running and self.chance.random() < 0.3:
                    self.end(self.chance.choice(sorted(self.running)))
                elif self.crowd.number_of_jobs() < MOST_JOBS:
                    self.start_jobs(2 if self.chance.random() < 0.3 else 1)
                self.crowd.over.wait(self.chance.uniform(0.5, 3))
        except Exception as error:  # pylint: disable=broad-except
            self.crowd.wrong.append(f"{self.user}: {error!r}")
        while self.running:
            self.end(next(iter(self.running)))

    def path(self, name):
        return self.crowd.folder / name

    def said(self, name):
        return self.path(f"{name}.out").read_text(encoding="utf-8", errors="replace").strip()

    def start_jobs(self, number):
        """Two are asked for at once."""
        begun = [self.ask() for _ in range(number)]
        for process, job in begun:
            while process.poll() is None and "ready" not in self.said(job.name):
                time.sleep(0.05)
            job.admitted = now()
            if less := re.search(r"so the weight is (\d+)", self.said(job.name)):
                job.slices = int(less.group(1))  # no more were free
            if process.poll() is None:
                self.running[job.name] = process, job
                continue
            process.wait()
            job.admitted, job.refusal = 0, self.said(job.name)

    def ask(self):
        percent = self.chance.choice((0, 0, 0, 0, 5, 10, 20))
        gpus = 2 if self.chance.random() < 0.15 else 1
        name = f"{self.user}j{len(self.jobs):04}"
        job = Job(name, self.user, self.chance.randrange(300, 2200), max(percent * SLICES // 100, 1), gpus, now())
        self.jobs.append(job)
        flags = ["--mem", f"{job.mib}MiB", "--name", name]
        if percent:
            flags += ["--compute", f"{percent}%"]
        if gpus > 1 or self.chance.random() < 0.3:
            flags += ["--gpus", ",".join(map(str, sorted(self.chance.sample(range(GPUS), gpus))))]
        # By its name the simulator's trace and ledger tell whose a process is.
        self.path(name).symlink_to(self.crowd.burn)
        # Kernels of 10 ms and more of ten jobs can go on beside each other after a kill, and then measure each other's time.
        burn = f"{self.path(name)} --forever --kernel-us 20000 --mib {job.mib - 200} --device"
        script = f"exec {burn} 0" if gpus == 1 else f"{burn} 0 & exec {burn} 1"
        with open(self.path(f"{name}.out"), "w", encoding="utf-8") as out:
            process = subprocess.Popen(
                ["setpriv", f"--reuid={self.user}", f"--regid={self.account.pw_gid}", "--init-groups", "cgpuctl", "run", *flags, "--",
                 "sh", "-c", script], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        return process, job

    def end(self, name):
        process, job = self.running.pop(name)
        how = signal.SIGKILL if self.chance.random() < self.crowd.killed_jobs else signal.SIGTERM
        try:
            os.killpg(process.pid, how)
        except ProcessLookupError:
            pass
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            self.crowd.wrong.append(f"{name} doesn't end: {self.said(name)}")
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        job.ended = now()


class Run:
    def __init__(self, folder, seconds, seed):
        self.folder, self.seconds, self.seed = pathlib.Path(folder), seconds, seed
        self.chance = random.Random(seed)
        self.burn = output_of("sh", "-c", "command -v burn").strip()
        self.over = threading.Event()
        self.killed_jobs = 0
        self.wrong, self.users, self.limits, self.jobs = [], [], [], []
        self.use = Use(lambda comm: comm[:6] if comm[:6] in USERS else None)
        self.most_at_once = 0

    def number_of_jobs(self):
        number = sum(len(user.running) for user in self.users)
        self.most_at_once = max(self.most_at_once, number)
        return number

    def look(self):
        self.use.look(now(), json.loads(output_of("simgpu", "ledger", "--json")))

    def reload(self):
        limits = draw_limits(self.chance)
        LIMITS.write_text(limits.yaml(), encoding="utf-8")
        if self.limits:
            before = self.times_read()
            os.kill(int(PID.read_text(encoding="utf-8")), signal.SIGHUP)
        else:
            before = -1
            self.restart()
        while self.times_read() <= before:
            time.sleep(0.1)
        if self.limits:
            self.limits[-1].end = now()
        self.limits.append(limits)

    @staticmethod
    def times_read():
        return json.loads(output_of("cgpuctl", "status", "--json"))["event_counts"].get("configuration-read", 0)

    def restart(self):
        begin = now()
        subprocess.run(["bash", self.folder / "restart"], check=True)
        return Kill(begin, now() + SETTLED_NS)

    def report(self):
        """GPU seconds by user: measured, and billed."""
        rows = json.loads(output_of("cgpuctl", "report", "--by", "user", "--json"))["rows"]
        ids = {pwd.getpwnam(user).pw_uid: user for user in USERS}
        found = collections.Counter(), collections.Counter()
        for row in rows:
            for seconds, column in zip(found, ("reported_seconds", "gpu_seconds")):
                seconds[ids.get(row.get("owner"), row["user"])] += row[column]
        return found

    def phase(self, name, seconds, kills):
        """Lets the crowd work, then everybody stops, and what was reported is compared with the ledger."""
        self.over.clear()
        self.look()
        had_before, (reported_before, billed_before) = self.use.looks[-1][1], self.report()
        self.users = [User(self, user, f"{self.seed}/{name}") for user in USERS]
        for user in self.users:
            user.jobs = [Job("", user.user, 0, 0, 0, 0)] * (1000 * kills)  # other names than in the phase before
            user.start()
        ends, killed, reloads = time.monotonic() + seconds, [], 0
        next_change = time.monotonic() + 2
        while time.monotonic() < ends:
            time.sleep(0.5)
            self.look()
            if time.monotonic() < next_change:
                continue
            if kills and self.chance.random() < 0.5:
                killed.append(self.restart())
            else:
                self.reload()
                reloads += 1
            next_change = time.monotonic() + self.chance.uniform(2, 5)
        self.over.set()
        for user in self.users:
            user.join()
            self.jobs += [job for job in user.jobs if job.name]
        while json.loads(output_of("cgpuctl", "list", "--json")):
            time.sleep(0.1)
        self.look()
        had = self.use.looks[-1][1] - had_before
        reported, billed = (after - before for after, before in zip(self.report(), (reported_before, billed_before)))
        lost = {user: most_lost(self.use, killed, INTERVAL_NS, user) for user in USERS}
        self.print_table(name, had, reported, billed, lost)
        print(f"{name}: {len(killed)} kills of cgpud, {reloads} reloads")
        return had, reported, lost

    @staticmethod
    def print_table(name, had, reported, billed, lost):
        print(f"{name}: GPU seconds of each user\nuser      ledger  reported    billed  may be lost   reported - ledger")
        for user in (*USERS, "all"):
            row = [sum(each.values()) if user == "all" else each.get(user, 0) for each in (had, reported, billed, lost)]
            off = (row[1] - row[0]) * 100 / row[0] if row[0] else 0
            print(f"{user:8}{row[0]:8.2f}{row[1]:10.2f}{row[2]:10.2f}{row[3]:13.2f}{row[1] - row[0]:12.2f} s {off:6.2f} %")


def judge_refusals(run):
    """Each refusal is by a limit, or there is no room; jobs that it names were there."""
    by_key, others = collections.Counter(), collections.Counter()
    jobs = {job.name: job for job in run.jobs}
    for job in run.jobs:
        if not job.refusal:
            continue
        keys = re.findall(r"\(limits\.(?:default|groups\.\w+|users\.\w+)\.(\w+)\)", job.refusal)
        for key in set(keys):
            by_key[key] += 1
        for named in re.findall(r"user\d\dj\d+", job.refusal):
            if named != job.name and not (jobs[named].user == job.user and jobs[named].asked < (job.asked + 10**9) and
                                          (not jobs[named].ended or jobs[named].ended > job.asked - 2 * 10**9)):
                run.wrong.append(f"{job.name}: {named} was named and wasn't there: {job.refusal}")
        if keys:
            continue
        others.update(re.findall("MiB is free|[0-9] is free|no GPU can take it|does not answer", job.refusal)[:1] or [job.refusal])
    return by_key, others


def main(folder, seconds, seed):
    run = Run(folder, float(seconds), seed)
    run.reload()
    peace = run.phase("peace", run.seconds / 3, 0)
    run.killed_jobs = 0.3
    war = run.phase("kills", run.seconds * 2 / 3, 1)
    crowd = Crowd(USERS, run.limits, run.jobs)
    (run.folder / "trace").write_text(output_of("simgpu", "trace"), encoding="utf-8")
    with open(run.folder / "trace", encoding="utf-8", errors="replace") as lines:
        wrong, nearest = judge_rules(read_trace(lines), crowd)
    by_key, others = judge_refusals(run)
    admitted = sum(1 for job in run.jobs if job.admitted)
    print(f"{len(run.jobs)} requests, {admitted} admitted, at most {run.most_at_once} at once, {len(run.limits)} limits, seed {seed}")
    print("nearest to a limit: " + ", ".join(f"{part} {per_cent:.0f} %" for part, per_cent in nearest.items()))
    print("refused by " + ", ".join(f"{key} {number}" for key, number in sorted(by_key.items())))
    print("refused otherwise: " + ", ".join(f"{text} {number}" for text, number in others.items()))
    wrong += [f"an unknown refusal: {text}" for text in others if len(text) > 30]
    wrong += run.wrong
    wrong += judge_report(*peace, 0.01, 0.1)
    wrong += judge_report(*war, 0.01, 0.1)
    if wrong:
        sys.exit("\n".join(wrong[:20]))


if sys.argv[1] == "users":
    for each, groups in USERS.items():
        print(each, ",".join(groups))
else:
    main(*sys.argv[2:])
