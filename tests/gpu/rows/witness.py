"""Compute that nobody reports, by the driver's samples of what each process uses: whom cgpud names by them. No simulated GPU can
say what a real driver's samples are like; tests/system/escape/compute.sh shows there that the rows could hold."""
import os
import re
import shutil
import time

from bench import Skip
from job import Failed
from mixes import programs

WATCHED = 25  # s: who is found is found after ten to twenty
NAMED = "by the driver's samples"


def rows(bench):
    bench.node.cgpuctl("set-policy", "0", "weighted")
    for what, _, make in programs(bench):
        if "PyTorch" not in what:
            bench.check(f"{what}, beside kernels of 1 ms, for {WATCHED} s", "nobody is named", lambda: honest(bench, make))
    bench.check("a job that brings a driver of its own", "it is named within 30 s", lambda: brought(bench))
    bench.node.cgpuctl("set-policy", "0", "preemptive")


def must_be_real(bench):
    if bench.simulated:
        raise Skip("its samples are not a real driver's")


def burn():
    return ["burn", "--forever", "--kernel-us", "1000"]


def honest(bench, make):
    must_be_real(bench)
    before = len(bench.node.log())
    for name, command in (("mixed", make()), ("other", burn())):
        bench.job(name, command, "4GiB").wait_for("ready", 30)
    time.sleep(WATCHED)
    named = [line for line in bench.node.log()[before:].splitlines() if NAMED in line]
    return not named, named[0] if named else f"nobody in {WATCHED} s"


def brought(bench):
    must_be_real(bench)
    folder = os.path.join(bench.node.folder, "brought")
    os.makedirs(folder, exist_ok=True)
    with open("/proc/self/maps", encoding="utf-8") as file:
        nvml = re.search(r"(/\S*)/libnvidia-ml\.so\S*", file.read())
    if nvml is None:
        raise Failed("the folder of the driver was not found")
    shutil.copy(os.path.join(nvml[1], "libcuda.so.1"), os.path.join(folder, "libcuda.so.1"))
    before = len(bench.node.log())
    job = bench.job("brought", ["env", f"LD_LIBRARY_PATH={folder}", *burn()], "4GiB")
    job.wait_for("ready", 30)
    began = time.monotonic()
    found = bench.wait(30, lambda: re.search(rf"process {job.pid}: {NAMED}", bench.node.log()[before:]))
    return found, f"{'named' if found else 'not named'} after {time.monotonic() - began:.0f} s"
