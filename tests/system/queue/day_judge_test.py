#!/usr/bin/env python3
"""day_judge.py must find what it was written for: correct days pass, and each kind of wrong day fails."""
import dataclasses
import unittest

from day_judge import MIB, SECOND, Day, Request, Sample, bounds_at_starts, judge_events
from crowd_judge import Limits

TOTAL = 16000


def request(name, mib, asked=0, **more):
    return Request(name, name[:6], mib, 1, more.pop("gpus", 1), asked, **more)


def sample(second, running=(), queue=(), lost=()):
    """running: (name, MiB, GPU); queue: names."""
    instances = [{"name": name, "gpus": [{"index": gpu, "memory_limit_bytes": mib * MIB, "weight": 1}]} for name, mib, gpu in running]
    gpus = [{"index": index, "present": index not in lost, "drained": False, "memory_total_bytes": TOTAL * MIB, "max_inst": 20,
             "memory_allocated_bytes": sum(mib for _, mib, gpu in running if gpu == index) * MIB} for index in (0, 1)]
    waiting = [{"name": name, "waits_for": f"GPU 0 is full for {name}"} for name in queue]
    return Sample(second * SECOND, {"instances": instances, "gpus": gpus, "queue": waiting}, second * SECOND)


def limits(**default):
    return Limits(default, {}, {}, 0)


FULL = (("user01q0", 16000, 0), ("user01q1", 16000, 1))
RUNNING = [request("user01q0", 16000), request("user01q1", 16000)]


class Idle(unittest.TestCase):
    def judge(self, job, samples, rules=(), disturbed=()):
        return Day([*RUNNING, job], rules, disturbed).judge_idle(samples)

    def test_it_waits_for_room(self):
        job = request("user02q0", 4000)
        self.assertEqual(self.judge(job, [sample(at, FULL, [job.name]) for at in range(20)]), [])
        half = [sample(at, FULL[:1], [job.name]) for at in range(20)]
        self.assertIn("might start", self.judge(job, half)[0])
        self.assertEqual(self.judge(job, half[:4]), [], "for a moment")
        self.assertEqual(self.judge(job, half[:8], disturbed=[3 * SECOND]), [])

    def test_what_it_needs(self):
        half = [sample(at, FULL[:1], ["user02q0"]) for at in range(8)]
        self.assertEqual(self.judge(request("user02q0", 4000, named=(0,)), half), [])
        self.assertEqual(self.judge(request("user02q0", 4000, gpus=2), half), [])
        lost = [sample(at, FULL[:1], ["user02q0"], lost=[1]) for at in range(8)]
        self.assertEqual(self.judge(request("user02q0", 4000), lost), [])

    def test_rules_of_its_owner(self):
        mine = [sample(at, [("user01q0", 4000, 0)], ["user01q2"]) for at in range(8)]
        job = request("user01q2", 4000)
        self.assertEqual(len(self.judge(job, mine)), 1)
        self.assertEqual(self.judge(job, mine, [limits(instances=1)]), [])
        self.assertEqual(self.judge(job, mine, [limits(memory=7999)]), [])
        self.assertEqual(len(self.judge(job, mine, [limits(memory=8000)])), 1)

    def test_when_it_was_admitted(self):
        job = request("user02q0", 4000, asked=SECOND, admitted=90 * SECOND)
        samples = [sample(2, FULL, [job.name]), sample(5, FULL, [job.name]), sample(9, (("user02q0", 4000, 0),)), sample(12, (("user02q0", 4000, 0),))]
        for each in samples:
            each.begin = each.ns - 1
        job = Day([*RUNNING, job], (), []).narrow_admissions(samples)[-1]
        self.assertEqual((job.asked, job.admitted), (5 * SECOND - 1, 9 * SECOND))

    def test_what_its_owner_has_asked_for_before_counts(self):
        first, second = request("user02q0", 16000), request("user02q1", 16000)
        day = Day([*RUNNING, first, second], [limits(instances=1)], [])
        both = sample(1, FULL, [first.name, second.name])
        self.assertEqual([day.is_limited(job, both) for job in (first, second)], [False, True])


class Order(unittest.TestCase):
    def judge(self, first, second, rules=(), lost=(), before=("user02q0", "user03q0")):
        samples = [sample(1, FULL[:1], before, lost), sample(2, (*FULL[:1], (second.name, second.mib, 1)), [first.name], lost)]
        return Day([*RUNNING, first, second], rules, []).judge_order(samples)

    def test_who_passes_needs_a_proof(self):
        first = request("user02q0", 16000)
        for before in (("user02q0", "user03q0"), ("user02q0",)):
            wrong, passes = self.judge(first, request("user03q0", 1000), before=before)
            self.assertEqual((len(wrong), passes), (1, 1))
            self.assertIn("user03q0 passed user02q0", wrong[0])
        self.assertEqual(self.judge(first, request("user03q0", 1000, time=5)), ([], 1))
        self.assertEqual(self.judge(request("user02q0", 16000, named=(0,)), request("user03q0", 1000)), ([], 1))
        self.assertEqual(self.judge(first, request("user03q0", 1000), [limits(memory=15000)]), ([], 1))
        self.assertEqual(self.judge(request("user02q0", 1, named=(0, 1), gpus=2), request("user03q0", 1000), lost=[0]), ([], 1))

    def test_a_bound_is_a_proof_if_it_holds(self):
        first, second = request("user02q0", 16000), request("user03q0", 1000)
        samples = [sample(at, (*FULL[:1], (second.name, second.mib, 1))[:1 + (at > 0)], [first.name]) for at in range(12)]
        for each in samples:
            each.node["queue"][0]["starts_within_seconds"] = 3 - each.ns / SECOND
        day = Day([*RUNNING, first, second], (), [])
        self.assertEqual(day.judge_order(samples), ([], 1))
        self.assertEqual(day.judge_bounds([*samples[:5], sample(5, FULL)]), ([], 1))
        late, _ = day.judge_bounds([*samples, sample(12, FULL)])
        self.assertIn("user02q0 was to start 9.0 s before it did", late[0])
        self.assertEqual(Day([first, second], (), [SECOND]).judge_bounds([*samples, sample(12, FULL)]), ([], 0))
        lost = Day([*RUNNING[:-1], dataclasses.replace(RUNNING[-1], ended=1), first, second], (), [])
        self.assertEqual(lost.judge_bounds([*samples, sample(12, FULL)]), ([], 0))
        limited = Day([*RUNNING, first, second], [limits(memory=15000)], [])
        self.assertEqual(limited.judge_bounds([*samples, sample(12, FULL)]), ([], 0))

    def test_a_bound_of_the_moment_of_the_start_is_a_proof(self):
        log = ("12:00:00.000 debug: the queue: instance a (user03q0) starts; instance b (user02q0) waits for room, 900ms at most; "
               "instance c (user04q0) waits for room\n12:00:00.001 info: instance a (user03q0): admitted")
        self.assertEqual(bounds_at_starts(log), {("user03q0", "user02q0")})
        first, second = request("user02q0", 16000), request("user03q0", 1000)
        samples = [sample(1, FULL[:1], [first.name]), sample(2, (*FULL[:1], (second.name, second.mib, 1)), [first.name])]
        day = Day([*RUNNING, first, second], (), [], bounds_at_starts(log))
        self.assertEqual(day.judge_order(samples), ([], 1))

    def test_moments_far_from_each_other_prove_nothing(self):
        first, second = request("user02q0", 16000), request("user03q0", 1000)
        samples = [sample(1, FULL[:1], [first.name]), sample(9, (*FULL[:1], (second.name, second.mib, 1)), [first.name])]
        self.assertEqual(Day([*RUNNING, first, second], (), []).judge_order(samples), ([], 0))

    def test_whoever_was_first_passes_nobody(self):
        self.assertEqual(self.judge(request("user02q0", 16000), request("user03q0", 1000), before=("user03q0", "user02q0")), ([], 0))


class Texts(unittest.TestCase):
    def test_each_says_what_it_waits_for(self):
        samples = [sample(at, FULL, ["user02q0"]) for at in range(8)]
        day = Day([*RUNNING, request("user02q0", 1)], (), [])
        self.assertEqual(day.judge_sentences(samples), [])
        for each in samples:
            each.node["queue"][0]["waits_for"] = ""
        self.assertEqual(len(day.judge_sentences(samples)), 1)

    def test_events(self):
        day = Day([request("user02q0", 1)], (), [])
        log = "x instance a (user02q0): waits for its part of a GPU, as number 1\nx instance a (user02q0): starts after it has waited 1s"
        seen = {"user02q0": SECOND}
        self.assertEqual(judge_events(log, day, seen, {"user02q0": {"started"}}), [])
        self.assertEqual(len(judge_events(log, day, seen, {"user02q0": {"deadline"}})), 1)
        self.assertEqual(len(judge_events("", day, seen, {"user02q0": {"started"}})), 1)
        self.assertEqual(judge_events("", Day(day.jobs.values(), (), [SECOND]), seen, {"user02q0": {"started"}}), [])


if __name__ == "__main__":
    unittest.main()
