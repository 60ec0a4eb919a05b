#!/usr/bin/env python3
"""crowd_judge.py must find what it was written for: correct runs pass, and each kind of wrong run fails."""
import unittest

from crowd_judge import Crowd, Job, Kill, Limits, Use, judge_report, judge_rules, most_lost
from history import MIB, Record

GROUPS_OF = {"u": ["students", "night"], "v": []}


def limits(begin=0, end=1 << 63, **default):
    return Limits(default, {}, {}, begin, end)


class Run:
    """Jobs and what they hold, step by step."""

    def __init__(self, *rules):
        self.rules, self.jobs, self.records = rules, [], []

    def job(self, name, mib=1000, asked=0, admitted=None, slices=1, gpus=1, user="u"):
        admitted = asked + 1 if admitted is None else admitted
        self.jobs.append(Job(name, user, mib, slices, gpus, asked, admitted))

    @staticmethod
    def record(ns, name, mib, gpu):
        return Record(ns, hash((name, gpu)), 1, gpu, 0, mib * MIB, name)

    def holds(self, ns, name, mib, gpu=0):
        self.records.append(self.record(ns, name, mib, gpu))

    def wrong(self):
        ends = [self.record(1 << 60, name, 0, gpu) for name, gpu in {(each.name, each.gpu) for each in self.records}]
        return judge_rules(self.records + ends, Crowd(GROUPS_OF, self.rules, self.jobs))[0]


class Rules(unittest.TestCase):
    def expect(self, run, *texts):
        wrong = run.wrong()
        self.assertEqual(len(wrong), len(texts), wrong)
        for said, text in zip(wrong, texts):
            self.assertIn(text, said)

    def two(self, rule, second_gpu=0, **second):
        run = Run(rule)
        run.job("u1")
        run.job("u2", asked=10, **second)
        run.holds(5, "u1", 900)
        run.holds(15, "u2", 900, second_gpu)
        return run

    def test_what_fits(self):
        self.expect(self.two(limits(instances=2, memory=1800, memory_per_gpu=1800, compute=10, gpus=1)))
        self.expect(self.two(limits(memory_per_gpu=1000, compute=5, gpus=2), second_gpu=1))
        self.expect(self.two(limits(instances=1), user="v"))

    def test_each_part(self):
        self.expect(self.two(limits(instances=1)), "u had instances 2 of 1")
        self.expect(self.two(limits(memory=1799), second_gpu=1), "u had memory 1800 of 1799")
        self.expect(self.two(limits(memory_per_gpu=1799)), "u had memory_per_gpu 1800 of 1799")
        self.expect(self.two(limits(compute=10), slices=2), "u had compute 15 of 10")
        self.expect(self.two(limits(gpus=1), second_gpu=1), "u had gpus 2 of 1")

    def test_a_job_has_no_more_than_its_own_limit_and_is_admitted(self):
        run = Run(limits())
        run.job("u1", mib=800)
        run.job("u2", admitted=0)
        run.holds(5, "u1", 801)
        run.holds(6, "u2", 1)
        self.expect(run, "u1 held 801.0 MiB", "u2 held memory, and was never admitted")

    def test_what_was_admitted_by_a_former_rule_stays(self):
        former, now = limits(0, 8, instances=2, gpus=2), limits(7, instances=1, gpus=1)
        run = Run(former, now)
        for number in (1, 2):
            run.job(f"u{number}", asked=number)
            run.holds(number + 2, f"u{number}", 900, number)
        run.holds(50, "u1", 950, 1)
        self.expect(run)
        run.job("u3", asked=60)
        run.holds(65, "u3", 10, 1)
        self.expect(run, "u had instances 3 of 1")

    def test_while_a_reload_is_under_way_the_more_generous_one_counts(self):
        for asked, texts in ((5, ()), (8, ()), (9, ("u had instances 2 of 1",))):
            run = Run(limits(0, 8, instances=2), limits(7, instances=1))
            run.job("u1", asked=0)
            run.job("u2", asked=asked)
            run.holds(1, "u1", 1)
            run.holds(20, "u2", 1)
            self.expect(run, *texts)

    def test_gpus_that_are_used_already_are_none_more(self):
        run = Run(limits(0, 8, gpus=2), limits(7, gpus=1))
        run.job("u1", asked=0)
        run.job("u2", asked=1)
        run.job("u3", asked=20)
        run.holds(2, "u1", 1, 0)
        run.holds(3, "u2", 1, 1)
        run.holds(30, "u3", 1, 1)
        run.holds(40, "u2", 0, 1)
        self.expect(run)

    def test_the_narrowest_rule(self):
        rule = Limits({"memory": 1, "gpus": 1}, {"students": {"memory": 3}, "night": {"memory": 2}}, {"v": {"memory": 4}}, 0)
        self.assertEqual(rule.of("u", GROUPS_OF["u"], "memory"), 2)
        self.assertEqual(rule.of("v", ["night"], "memory"), 4)
        self.assertEqual(rule.of("u", GROUPS_OF["u"], "gpus"), 1)
        self.assertIsNone(rule.of("u", GROUPS_OF["u"], "compute"))


class Reports(unittest.TestCase):
    @staticmethod
    def ledger(**seconds):
        return {"processes": [{"serial": name, "comm": name, "gpus": [{"gpu_ns": each * 1e9}]} for name, each in seconds.items()]}

    def test_time_of_processes_that_the_ledger_has_forgotten_counts(self):
        use = Use(lambda comm: comm[0])
        use.look(0, self.ledger(u1=1, u2=2))
        use.look(10, self.ledger(u2=3, v1=1))
        self.assertEqual(use.looks[-1][1], {"u": 4, "v": 1})

    def test_what_kills_may_lose(self):
        use = Use(lambda comm: comm[0])
        for second in range(20):
            use.look(second, self.ledger(u1=second))
        self.assertEqual(most_lost(use, [Kill(5, 7)], 2, "u"), 4)
        self.assertEqual(most_lost(use, [Kill(5, 7), Kill(8, 9)], 2, "u"), 6)

    def test_too_much_and_too_little(self):
        for reported, lost, is_wrong in ((100, 0, False), (99.2, 0, False), (98, 0, True), (98, 2, False), (101.5, 2, True)):
            self.assertEqual(bool(judge_report({"u": 100}, {"u": reported}, {"u": lost}, 0.01, 0.1)), is_wrong)


if __name__ == "__main__":
    unittest.main()
