"""What the rows work with: the node, the judge, the table, and the jobs they start."""
import os
import time

from job import Failed, Job
from table import Row

MIB = 1 << 20
GIB = 1 << 30
SIMULATED = "/dev/simgpu"
KEPT = 20000  # characters of a job's output


def mib(value):
    return f"{value / MIB:.0f} MiB" if value % MIB == 0 else f"{value / MIB:.1f} MiB"


class Skip(Exception):
    """The row cannot be judged here; the text says why."""


class Bench:
    def __init__(self, node, nvml, table, deadline):
        self.node, self.nvml, self.table = node, nvml, table
        self.only = ""  # in the name of each row that is to be run
        self.simulated = os.path.exists(SIMULATED)
        self._deadline = deadline
        self._group = ""
        self._jobs = []
        self._remembered = []
        self._others = set(nvml.processes())  # what else is on the card is none of ours

    def begin(self, group):
        self._group = group

    def check(self, what, expected, body):
        """Run one row. `body()` returns whether it held (None for a figure without an expectation) and what was seen."""
        if self.only not in what:
            return
        try:
            if time.monotonic() > self._deadline:
                raise Skip("the time was over before this row")
            held, seen = body()
            held = {True: "yes", False: "no", None: "figure"}[held]
        except Skip as skip:
            held, seen = "skipped", str(skip)
        except Failed as failed:
            held, seen = "no", str(failed)
        except Exception as error:  # pylint: disable=broad-except  # one broken row must not cost the others
            held, seen = "no", f"the row broke: {type(error).__name__}: {error}"
        if held == "no":
            self._keep_outputs(what)
        self._remembered.clear()
        self.end_jobs()
        self.table.add(Row(self._group, what, expected, seen, held))

    def remember(self, text):
        """What may explain the row if it does not hold."""
        self._remembered.append(text)

    def _keep_outputs(self, what):
        """Keep the output of the jobs of a row that did not hold: later the machine may be gone."""
        with open(os.path.join(self.table.folder, "failures.log"), "a", encoding="utf-8") as file:
            file.writelines(f"--- {self._group}: {what}: {text}\n" for text in self._remembered)
            for job in self._jobs:
                file.write(f"--- {self._group}: {what}: {' '.join(job.command)}\n{job.output()[-KEPT:]}\n")

    def program(self, name):
        return os.path.join(self.node.folder, "programs", name)

    def job(self, name, command, mem, *flags, environment=None):
        """Start `command` under cgpuctl run, on GPU 0, with a limit such as 2GiB."""
        return self._start(name, [self.node.program("cgpuctl"), "run", "--name", name, "--gpus", "0", "--mem", mem, *flags,
                                  "--", *command], environment)

    def bare(self, name, command, environment=None):
        """Start `command` without cgpu, on the same GPU."""
        return self._start(name, command, dict(environment or {}, CUDA_VISIBLE_DEVICES=self.nvml.uuid()))

    def _start(self, name, command, environment):
        variables = dict(os.environ, DBUS_SYSTEM_BUS_ADDRESS=self.node.address, PYTHONUNBUFFERED="1",
                         PATH=os.path.join(self.node.folder, "programs") + ":" + os.environ["PATH"])
        variables.update(environment or {})
        job = Job(command, variables, os.path.join(self.node.folder, f"{len(self._jobs)}-{name}.out"))
        self._jobs.append(job)
        return job

    def end_jobs(self):
        """End all jobs that were started, and wait until nothing of them is left on the node."""
        for job in self._jobs:
            job.end()
        self._jobs.clear()
        self.wait(15, lambda: not self.node.instances())
        self.wait(15, lambda: set(self.nvml.processes()) <= self._others)

    @staticmethod
    def wait(seconds, condition):
        """Return whether it became true in that time."""
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True
