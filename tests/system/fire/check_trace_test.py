#!/usr/bin/env python3
"""check_trace.py must find what it was written for: correct runs pass, and each kind of wrong run fails."""
import unittest

from check_trace import DEADLINE_NS, ESTIMATE, Instance, check, read_notes
from history import CHUNK, GIVE_BACK_NS, MIB, Locked, Record, read_trace

LIMIT = 1000 * MIB
MS = 1_000_000


class Run:
    """A run that is written down step by step; times in milliseconds, sizes in MiB."""

    def __init__(self):
        self.records, self.journal = [], []
        self.serials = {}
        self.rule = ""

    def holds(self, ms, pid, allocated, contexts=100, name="job", gpu=0):
        serial = self.serials.setdefault((name, pid), len(self.serials) + 1)
        self.records.append(Record(ms * MS, serial, pid, gpu, contexts * MIB, allocated * MIB, name))

    def ends(self, ms, pid, name="job"):
        self.holds(ms, pid, 0, 0, name)

    def born(self, ms, pid):
        self.journal.append(["born", str(pid), str(ms * MS)])

    def dead(self, ms, pid, asked=0):
        self.journal.append(["dead", str(pid), "0", str(ms * MS), str(asked * MIB), str((ms - 5) * MS)])

    def got(self, begin, end, pid, mib):
        self.journal.append(["got", str(pid), "0", str(begin * MS), str(end * MS), str(mib * MIB)])

    def stopped(self, begin, end, pid, asked=0):
        self.journal.append(["stopped", str(pid), "0", str(begin * MS), str(end * MS), str(asked * MIB)])

    def refused(self, begin, end, pid, mib):
        self.journal.append(["refused", str(pid), "0", str(begin * MS), str(end * MS), str(mib * MIB), "plain"])

    def problems(self):
        self.records.sort(key=lambda record: record.end if isinstance(record, Locked) else record.ns)
        return self.problems_as_written()

    def problems_as_written(self):
        return check(self.records, {"job": Instance(LIMIT, self.journal, self.rule)}).problems


def life(run, pid, begin, end, allocated):
    run.born(begin - 1, pid)
    run.holds(begin, pid, 0)
    run.holds(begin, pid, allocated)
    run.ends(end, pid)
    run.dead(end, pid)


class CheckTraceTest(unittest.TestCase):
    def setUp(self):
        self.run_ = Run()

    def expect(self, *kinds):
        got = sorted({problem.split(":")[0] for problem in self.run_.problems()})
        self.assertEqual(got, sorted(kinds))

    def test_a_full_instance_passes(self):
        life(self.run_, 1, 10, 3000, 500)
        life(self.run_, 2, 20, 3000, 500)
        self.expect()

    def test_one_block_too_much_for_one_instant(self):
        life(self.run_, 1, 10, 3000, 500)
        life(self.run_, 2, 20, 3000, 500)
        self.run_.holds(1000, 2, 502)
        self.run_.holds(1000, 2, 500)
        self.expect("beyond the limit")

    def test_contexts_may_come_on_top(self):
        for pid in range(1, 11):
            life(self.run_, pid, 10, 3000, 100)
        self.expect()
        self.run_.rule = "whole"
        self.expect("beyond the limit")

    def exceed(self, begin, end):
        self.run_.rule = "pools"
        life(self.run_, 1, 10, 3000, 500)
        life(self.run_, 2, 20, 3000, 500)
        self.run_.holds(begin, 2, 530)
        self.run_.holds(end, 2, 500)

    def test_a_pool_may_take_too_much_for_a_moment(self):
        self.exceed(1000, 1000 + DEADLINE_NS // MS)
        self.expect()

    def test_a_pool_may_not_take_too_much_for_long(self):
        self.exceed(1000, 1001 + DEADLINE_NS // MS)
        self.expect("beyond the limit")

    def test_a_pool_can_not_undo_while_it_is_stopped(self):
        self.exceed(1000, 2000)
        self.run_.stopped(1001, 1999, 2)
        self.expect()

    def test_pools_may_not_take_too_much_again_and_again(self):
        self.exceed(1000, 1010)
        self.run_.holds(1005, 2, 540)
        self.expect("beyond the limit")

    def test_each_gpu_has_a_limit_of_its_own(self):
        life(self.run_, 1, 10, 3000, 800)
        self.run_.holds(11, 1, 800, gpu=1)
        self.run_.holds(3000, 1, 0, 0, gpu=1)
        self.expect()

    def test_memory_that_stays(self):
        life(self.run_, 1, 10, 3000, 500)
        self.run_.records.pop()
        self.expect("still held in the end")

    def test_memory_of_nobody(self):
        life(self.run_, 1, 10, 3000, 500)
        self.run_.holds(3001, 0, 0, 0, name="")
        self.expect("memory of none of the instances")

    def test_a_process_that_was_not_killed(self):
        self.run_.born(10, 1)
        self.expect("not known to be dead")

    def test_a_call_that_failed(self):
        self.run_.journal.append(["failed", "1", "0", "cuMemFree", "1"])
        self.expect("failed")

    def test_a_trace_that_goes_back(self):
        life(self.run_, 1, 10, 3000, 500)
        self.run_.records.reverse()
        self.assertIn("the trace goes back in time", "".join(self.run_.problems_as_written()))

    def test_refused_although_it_fits(self):
        life(self.run_, 1, 10, 3000, 500)
        self.run_.refused(1000, 1250, 1, 400)
        self.expect("refused although it fits")

    def test_refused_while_nobody_could_use_a_gpu(self):
        life(self.run_, 1, 10, 3000, 500)
        self.run_.refused(1000, 1250, 1, 400)
        self.run_.records.append(Locked(1000 * MS, 1050 * MS))
        self.expect()
        self.run_.refused(1000, 1251, 1, 400)
        self.expect("refused although it fits")

    def test_reads_what_simgpu_prints(self):
        lines = ["12 3 45 1 100 2 7 a name\n", "locked 500 20\n"]
        self.assertEqual(list(read_trace(lines)), [Record(12, 3, 45, 1, 102, 7, "a name"), Locked(480, 500)])

    def test_refused_because_it_does_not_fit(self):
        life(self.run_, 1, 10, 3000, 500)
        self.run_.refused(1000, 1250, 1, 402)
        self.expect()

    def test_refused_for_less_than_the_deadline(self):
        life(self.run_, 1, 10, 3000, 500)
        self.run_.refused(1000, 1000 + DEADLINE_NS // MS - 1, 1, 400)
        self.expect()

    def test_it_did_not_fit_for_a_moment(self):
        life(self.run_, 1, 10, 3000, 500)
        self.run_.holds(1100, 1, 502)
        self.run_.holds(1101, 1, 500)
        self.run_.refused(1000, 1250, 1, 400)
        self.expect()
        self.run_.refused(1000, 1302, 1, 400)  # that moment is long ago
        self.expect("refused although it fits")

    def stop(self, refused, asked=0):
        life(self.run_, 1, 10, 3000, 500)
        life(self.run_, 2, 20, 3000, 100)
        self.run_.stopped(900, 1400, 2, asked)
        self.run_.refused(1000, 1250, 1, refused)

    def test_a_stopped_process_may_keep_a_chunk(self):
        self.stop(200 - CHUNK // MIB + 2)
        self.expect()

    def test_a_stopped_process_may_keep_no_more_than_a_chunk(self):
        self.stop(200 - CHUNK // MIB)
        self.expect("refused although it fits")

    def test_a_stopped_process_may_keep_what_it_asked_for(self):
        self.stop(200 - CHUNK // MIB, asked=2)
        self.expect()

    def stop_after_a_free(self, freed_ms):
        self.run_.born(9, 1)
        self.run_.holds(10, 1, 300)
        self.run_.holds(freed_ms, 1, 100)
        self.run_.ends(3000, 1)
        self.run_.dead(3000, 1)
        self.run_.stopped(900, 1400, 1)
        self.run_.refused(1000, 1250, 1, 1000 - 200 - CHUNK // MIB)

    def test_a_stopped_process_may_keep_what_it_has_just_freed(self):
        self.stop_after_a_free(900 - GIVE_BACK_NS // MS)
        self.expect()

    def test_a_stopped_process_has_not_kept_what_it_took_again(self):
        life(self.run_, 1, 10, 3000, 300)
        for ms in range(800, 900, 20):
            self.run_.holds(ms, 1, 100)
            self.run_.holds(ms + 10, 1, 300)
        self.run_.stopped(900, 1400, 1)
        self.run_.refused(1000, 1250, 1, 1000 - 400 - CHUNK // MIB)
        self.expect("refused although it fits")

    def test_a_stopped_process_may_keep_what_it_asked_for_before_it_freed_as_much(self):
        life(self.run_, 1, 10, 3000, 300)
        self.run_.holds(880, 1, 100)
        self.run_.holds(890, 1, 300)
        self.run_.stopped(900, 1400, 1)
        self.run_.got(870, 891, 1, 200)
        self.run_.refused(1000, 1250, 1, 1000 - 400 - CHUNK // MIB)
        self.expect()

    def test_a_stopped_process_may_not_keep_what_it_freed_long_before(self):
        self.stop_after_a_free(899 - GIVE_BACK_NS // MS)
        self.expect("refused although it fits")

    def test_a_process_that_begins_may_have_reserved_its_context(self):
        life(self.run_, 1, 10, 3000, 500)
        life(self.run_, 2, 1200, 3000, 0)
        self.run_.journal[-2][2] = str(1100 * MS)  # born
        self.run_.refused(1000, 1199, 1, 400 - ESTIMATE // MIB + 2)
        self.run_.refused(900, 1150, 1, 400 - ESTIMATE // MIB + 2)
        self.expect()
        self.run_.refused(900, 1150, 1, 400 - ESTIMATE // MIB)
        self.expect("refused although it fits")

    def test_what_a_killed_process_leased_is_back_when_its_memory_is(self):
        life(self.run_, 1, 10, 3000, 500)
        life(self.run_, 2, 20, 1100, 100)
        self.run_.journal[-1][3] = str(900 * MS)  # dead; a child of it kept its memory until 1100
        self.run_.refused(800, 1050, 1, 200)
        self.expect()
        self.run_.refused(1000, 1301, 1, 400)
        self.expect("refused although it fits")

    def test_what_another_request_was_granted(self):
        life(self.run_, 1, 10, 3000, 500)
        self.run_.refused(1000, 1250, 1, 400)
        self.run_.got(900, 1200, 1, 2)
        self.expect()

    def test_a_request_that_waits_keeps_nothing_from_others_for_long(self):
        life(self.run_, 1, 10, 3000, 500)
        self.run_.refused(1000, 1250, 1, 400)
        self.run_.got(900, 1351, 1, 2)
        self.expect("refused although it fits")

    def test_what_a_killed_process_was_granted(self):
        life(self.run_, 1, 10, 3000, 500)
        life(self.run_, 2, 20, 1252, 100)
        self.run_.refused(1000, 1250, 1, 200)
        self.expect("refused although it fits")
        self.run_.journal[-2][4] = str(2 * MIB)  # dead, asking for so much since 5 ms
        self.expect()

    def test_a_pid_that_comes_back_is_another_process(self):
        life(self.run_, 1, 10, 500, 700)
        self.run_.serials.clear()
        self.run_.serials[("other", 9)] = 1
        life(self.run_, 1, 600, 3000, 100)
        self.run_.stopped(900, 1400, 1)
        self.run_.refused(1000, 1250, 1, 800 - CHUNK // MIB)
        self.expect("refused although it fits")

    def test_a_process_may_note_something_before_its_birth_is_noted(self):
        self.run_.got(100, 110, 1, 2)
        life(self.run_, 1, 10, 3000, 500)
        self.expect()
        life(self.run_, 1, 3100, 3500, 500)
        self.run_.journal.insert(0, self.run_.journal.pop())
        self.expect()


class Notes(unittest.TestCase):
    def test_of_a_killed_process_only_whole_ones_count(self):
        self.assertEqual(read_notes(["\n", "born 1 5 .\n", "\n", "got 1 0 34", "\n", "\n", "got 2 0 7 8 9 .\n"]),
                         [["born", "1", "5"], ["got", "2", "0", "7", "8", "9"]])


if __name__ == "__main__":
    unittest.main()
