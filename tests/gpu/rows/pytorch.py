"""PyTorch under limits."""
import os
import shutil
import signal
import subprocess

from bench import GIB, Skip, mib
from job import Failed
from nvml import Watch

LIMIT = 4 * GIB
PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs")


def rows(bench):
    bench.check("a training step, twenty times", f"the loss falls; total {LIMIT} bytes; NVML never says more than {mib(LIMIT)}",
                lambda: train(bench))
    bench.check("beyond the limit, beside another job that trains",
                "torch.OutOfMemoryError in that job, which can train on; the other one does not notice", lambda: beyond(bench))
    bench.check("a training step as a CUDA graph", "the same weights as step by step, to a hundredth of what they moved", lambda: graph(bench))
    bench.check("expandable_segments:True, beyond the limit", "torch.OutOfMemoryError, and it can train on; NVML never says more "
                f"than {mib(LIMIT)}", lambda: expandable(bench))
    bench.check("two processes of one job, a tensor of one opened by the other", f"together no more than {mib(LIMIT)}; the sum "
                "is right; OutOfMemoryError in the one that wants too much; the other one trains on", lambda: two(bench))


_found = {}


def python(bench):
    """The interpreter that has PyTorch with a GPU."""
    if bench.simulated:
        raise Skip("PyTorch's CUDA runtime doesn't start on simulated GPUs")
    if not _found:
        program = shutil.which("python3")
        asked = subprocess.run([program, "-c", "import torch; print(torch.__version__, torch.cuda.is_available())"],
                               capture_output=True, text=True, timeout=180, check=False)
        _found["version"], _, usable = asked.stdout.strip().partition(" ")
        _found["python"] = program if usable == "True" else None
        _found["why"] = asked.stdout.strip() or asked.stderr.strip()[-200:]
    if _found["python"] is None:
        raise Skip(f"python3 here has no PyTorch that can use the GPU: {_found['why']}")
    return _found["python"]


def command(bench, program, *arguments):
    return [python(bench), "-B", os.path.join(PROGRAMS, f"torch_{program}.py"), *arguments]


def train(bench):
    with Watch(bench.nvml) as watch:
        job = bench.job("train", command(bench, "train", "20"), "4GiB")
        status = job.wait(120)
    first, last = float(job.fact("first_loss")), float(job.fact("last_loss"))
    return status == 0 and last < first and job.number("total") == LIMIT and watch.peak <= LIMIT, \
        (f"PyTorch {_found['version']}: loss {first:.3f} to {last:.3f}; total {job.fact('total')}; NVML: at most "
         f"{mib(watch.peak)}, of which PyTorch reserved {mib(job.number('peak'))}")


def steps(job):
    found = job.facts("finished")
    return int(found[-1].split()[1]) if found else 0


def beyond(bench):
    beside = bench.job("beside", command(bench, "train"), "4GiB")
    beside.wait_for("finished", 120)
    before = steps(beside)
    with Watch(bench.nvml) as watch:
        job = bench.job("beyond", command(bench, "fill"), "4GiB")
        job.wait_for("ready", 120)
    seen = steps(beside)
    if not bench.wait(10, lambda: steps(beside) > seen + 5):
        raise Failed(f"the other job stopped at {seen} steps: {beside.last_words()}")
    return job.fact("error") == "OutOfMemoryError" and job.fact("after") == "works" and watch.peak <= LIMIT, \
        (f"{job.fact('error')} after {job.fact('allocated_mib')} MiB, a step after that {job.fact('after')}; the other one went on "
         f"from step {before} to {steps(beside)}; NVML: {mib(watch.peak)} at most")


def graph(bench):
    job = bench.job("graph", command(bench, "graph"), "4GiB")
    status = job.wait(120)
    moved, difference = float(job.fact("moved")), float(job.fact("difference"))
    return status == 0 and difference < moved / 100, f"weights moved by up to {moved:.1e}; {difference:.1e} apart"


def expandable(bench):
    with Watch(bench.nvml) as watch:
        # The second name is the one that PyTorch knows since 2.9.
        job = bench.job("expandable", command(bench, "fill"), "4GiB",
                        environment={"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True",
                                     "PYTORCH_ALLOC_CONF": "expandable_segments:True"})
        job.wait_for("ready", 120)
    return job.fact("error") == "OutOfMemoryError" and job.fact("after") == "works" and watch.peak <= LIMIT, \
        f"{job.fact('error')} after {job.fact('allocated_mib')} MiB, a step after that {job.fact('after')}; NVML: at most " \
        f"{mib(watch.peak)}"


def two(bench):
    with Watch(bench.nvml) as watch:
        job = bench.job("two", command(bench, "two"), "4GiB")
        bench.wait(150, lambda: job.output().count("ready") == 2 or not job.runs())
        held = watch.held()
    job.signal(signal.SIGTERM)
    bench.remember(f"NVML's bytes by process, over time: {watch.history}")
    return float(job.fact("sum")) == 64 << 20 and job.fact("error") == "OutOfMemoryError" and job.fact("after") == "works" \
        and watch.peak <= LIMIT, \
        (f"sum {job.fact('sum')}; {job.fact('error')}; the first one {job.fact('after')}; NVML: {mib(held)} held, at most "
         f"{mib(watch.peak)}")
