"""What first uses of kernels take: code, local memory, stacks, heaps. A job's limit must hold there, too."""
import os
from concurrent.futures import ThreadPoolExecutor

from bench import GIB, MIB, Skip, mib
from nvml import Watch
from runtime import compile_here, must_be_real

LIMIT = 2 * GIB
KINDS = {"plain": ["plain"], "prints": ["prints"], "asserts": ["asserts"], "allocates": ["allocates"], "recurses": ["recurses"],
         **{f"local-{size}": ["local", str(size)] for size in (64, 320, 1000, 1024, 1200, 2000, 4096)}}


def rows(bench):
    programs = {}
    bench.check("first uses, without cgpu", "a figure", lambda: alone(bench, programs))
    for kind in KINDS:
        bench.check(f"{kind}: loaded, then the limit is used up, then launched",
                    f"it works or is out of memory; NVML never says more than {mib(LIMIT)}",
                    lambda: used_up(bench, programs, kind))
    for kind in ("plain", "asserts", "allocates"):
        bench.check(f"{kind}: first used with 16 MiB left", "a figure: what the driver takes beyond the limit",
                    lambda: late(bench, programs, kind))


def compile_kind(bench, kind):
    path = os.path.join(bench.node.folder, f"firsts-{kind}")
    defines = [f"-D{name}={value}" for name, value in zip(("KERNEL", "BYTES"), KINDS[kind])]
    compile_here(bench, "firsts.cu", path, *defines)
    return path


def alone(bench, programs):
    must_be_real(bench)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        programs.update(zip(KINDS, pool.map(lambda kind: compile_kind(bench, kind), KINDS)))
    found = []
    for kind in KINDS:
        job = bench.bare(kind, [programs[kind]])
        job.wait_for("ready", 30)
        found.append(f"{kind}: {job.fact('local')} bytes a thread, loaded {mib(job.number('loaded'))}, launched "
                     f"{mib(job.number('launched'))}")
        bench.end_jobs()
    return None, "; ".join(found)


def run(bench, programs, kind, how):
    if kind not in programs:
        raise Skip("it was not compiled")
    with Watch(bench.nvml) as watch:
        job = bench.job(kind, [programs[kind], how], "2GiB")
        job.wait_for("ready", 60)
    return job, watch.peak


def used_up(bench, programs, kind):
    job, peak = run(bench, programs, kind, "--fill")
    result = job.fact("result")
    return result in ("0 cudaSuccess", "2 cudaErrorMemoryAllocation") and peak <= LIMIT, \
        f"{job.fact('local')} bytes a thread; {result}; NVML: at most {mib(peak)}"


def late(bench, programs, kind):
    job, peak = run(bench, programs, kind, "--late")
    return None, f"{job.fact('result')}; NVML: at most {mib(peak)}, {max(peak - LIMIT, 0) // MIB} MiB beyond the limit"
