"""What a program sees of the GPU, inside a job and outside."""
import os
import shutil
import subprocess

from bench import GIB, Skip
from job import Failed

LIMIT = 3 * GIB


def rows(bench):
    seen = {}
    bench.check("inside: cuDeviceTotalMem, cuMemGetInfo, NVML v1 and v2", f"total {LIMIT} bytes, all of them",
                lambda: totals(bench, seen))
    bench.check("inside: used and free of cuMemGetInfo and NVML v1 and v2", "the same to the byte, together the limit",
                lambda: used(seen))
    bench.check("inside: nvidia-smi", f"total {LIMIT >> 20} MiB", lambda: nvidia_smi_inside(bench))
    bench.check("inside: the processes that nvidia-smi and NVML show, beside a process without cgpu",
                "the job's own only, with what it is charged", lambda: processes_inside(bench))
    bench.check("outside, while a job runs: NVML and nvidia-smi", "the whole card, as before", lambda: outside(bench))
    bench.check("cuGetProcAddress (both forms, all names, versions and flags) and dlsym",
                "every hook substituted, everything else the driver's own, none wrong", lambda: lookups(bench))
    bench.check("a kernel's result in a job", "right", lambda: kernel(bench))


def facts_of(job):
    if job.wait(60) != 0:
        raise Failed(job.last_words())
    return {key: value for key, _, value in (line.partition(" ") for line in job.output().splitlines())}


def totals(bench, seen):
    seen.update(facts_of(bench.job("info", ["info"], "3GiB")))
    names = ["total_mem", "mem_info_total", "nvml_v1_total", "nvml_v2_total"]
    values = {name: seen.get(f"device.0.{name}", "nothing") for name in names}
    devices = seen.get("devices")
    return set(values.values()) == {str(LIMIT)} and devices == "1", \
        f"{devices} GPU; " + ", ".join(f"{name} {value}" for name, value in values.items())


def used(seen):
    if "device.0.nvml_v2_used" not in seen:
        raise Skip("the row before brought no figures")
    free = [int(seen[f"device.0.{name}"]) for name in ("mem_info_free", "nvml_v1_free", "nvml_v2_free")]
    taken = [int(seen["device.0.mem_info_total"]) - free[0], int(seen["device.0.nvml_v1_used"]),
             int(seen["device.0.nvml_v2_used"])]
    return len(set(free)) == 1 and len(set(taken)) == 1 and free[0] + taken[0] == LIMIT, f"free {free}, used {taken}"


def nvidia_smi():
    program = shutil.which("nvidia-smi") or "/usr/local/nvidia/bin/nvidia-smi"
    if not os.path.exists(program):
        raise Skip("there is no nvidia-smi here")
    return [program, "--query-gpu=memory.total,memory.used", "--format=csv,noheader,nounits", "-i", "0"]


def nvidia_smi_inside(bench):
    job = bench.job("smi", nvidia_smi(), "3GiB")
    status = job.wait(60)
    return status == 0 and job.output().split(",")[0].strip() == str(LIMIT >> 20), \
        f"status {status}: {job.last_words()} (total, used in MiB)"


def processes_inside(bench):
    program = nvidia_smi()[0]
    other = bench.bare("other", ["alloc", "--mib", "64", "--hold"])
    other.wait_for("ready", 60)
    ask = f"{program} --query-compute-apps"
    script = ("alloc --mib 128 --hold & for i in 1 2 3 4 5 6 7 8 9 10; do "
              f"{ask}=pid --format=csv,noheader | grep -q . && break; sleep 0.2; done; sleep 1; echo job $!; "
              f"{ask}=pid,used_memory --format=csv,noheader,nounits; {program}; echo done")
    job = bench.job("list", ["sh", "-c", script], "3GiB")
    job.wait_for("done", 60)
    text = job.output().split("\njob ", 1)[-1]
    own = text.split()[0]
    queried = [line.replace(",", "").split() for line in text.splitlines()[1:] if line.count(",") == 1 and line[0].isdigit()]
    table = [line.split() for line in text.splitlines() if line.startswith("|") and line.rstrip(" |").endswith("MiB") and " C " in line]
    shown = [words[words.index("C") - 1] for words in table]
    bench.remember(text)
    charged = bench.node.charged("list") >> 20
    right = [pid for pid, _ in queried] == [own] and shown == [own] and abs(int(queried[0][1]) - charged) <= 2
    return right, f"the job's process is {own}; queried: {queried} (pid, MiB), in the table: {shown}; charged {charged} MiB"


def outside(bench):
    before = node_totals(bench)
    job = bench.job("outside", ["alloc", "--mib", "64", "--hold"], "3GiB")
    job.wait_for("ready", 60)
    now = node_totals(bench)
    return before == now and bench.nvml.memory().total > LIMIT, f"before: {before}; meanwhile: {now}"


def node_totals(bench):
    text = f"NVML {bench.nvml.memory().total} bytes"
    try:
        said = subprocess.run(nvidia_smi(), capture_output=True, text=True, timeout=30, check=True).stdout
        return f"{text}, nvidia-smi {said.split(',')[0].strip()} MiB"
    except Skip as skip:
        return f"{text}, {skip}"


def lookups(bench):
    facts = os.path.join(bench.node.folder, "facts")
    job = bench.job("lookups", ["lookups", os.path.join(facts, "cuda_api.tsv"), os.path.join(facts, "hooks.txt")], "1GiB")
    status = job.wait(120)
    wrong = job.number("wrong")
    examples = "" if wrong == 0 else ": " + "; ".join(job.facts("wrong:")[:3])
    return status == 0 and job.number("substituted") > 1000, \
        f"{job.fact('lookups')} look-ups, {job.fact('substituted')} substituted, {wrong} wrong{examples}"


def kernel(bench):
    job = bench.job("vector_add", ["vector_add"], "2GiB")
    status = job.wait(60)
    return status == 0, f"{job.fact('elements')} elements, {job.fact('wrong')} wrong"
