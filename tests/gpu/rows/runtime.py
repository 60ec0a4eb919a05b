"""Programs of the CUDA runtime, compiled here by nvcc; linked with it statically and as a shared library."""
import os
import shutil
import subprocess

from bench import GIB, MIB, Skip, mib
from job import Failed
from nvml import Watch

LIMIT = 2 * GIB
SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs")
WORKS = ["mem_info", "malloc", "launch", "capture", "instantiate", "graph_launch", "pitch", "array", "array_3d", "async"]


def rows(bench):
    for kind in ("static", "shared"):
        programs = {}
        bench.check(f"{kind}: nvcc compiles it", "it does", lambda: (True, compiled(bench, kind, programs)))
        bench.check(f"{kind}: cudaMemGetInfo and cudaGetDeviceProperties", f"total {LIMIT} bytes",
                    lambda: totals(bench, programs))
        bench.check(f"{kind}: a kernel, a graph of three kernels twice, and small allocations of each kind",
                    "all work, the results are right", lambda: works(bench, programs))
        bench.check(f"{kind}: cudaMallocManaged", "cudaErrorNotSupported, and the attribute that offers it is 0",
                    lambda: managed(bench, programs))
        bench.check(f"{kind}: cudaMalloc until it is refused",
                    f"cudaErrorMemoryAllocation; NVML never says more than {mib(LIMIT)}", lambda: fill(bench, programs))


def nvcc():
    program = shutil.which("nvcc", path=os.environ["PATH"] + ":/usr/local/cuda/bin")
    if program is None:
        raise Skip("there is no nvcc here")
    return program


def compile_here(bench, source, output, *flags):
    """Return the version of nvcc. Failed: with its message."""
    program = nvcc()
    libraries = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(program))), "lib64")
    done = subprocess.run([program, "-std=c++17", f"-arch=sm_{bench.nvml.capability()}", *flags, "-o", output,
                           os.path.join(SOURCES, source), "-Xlinker", f"-rpath,{libraries}"],
                          capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise Failed(f"nvcc: {done.stderr.strip()[-300:]}")
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    return version.strip().splitlines()[-1]


def must_be_real(bench):
    if bench.simulated:
        raise Skip("NVIDIA's CUDA runtime doesn't start on simulated GPUs")


def compiled(bench, kind, programs):
    if bench.simulated:
        raise Skip("NVIDIA's CUDA runtime doesn't start on simulated GPUs; the test gpu.programs compiles it")
    path = os.path.join(bench.node.folder, f"runtime-{kind}")
    version = compile_here(bench, "runtime.cu", path, "-cudart", kind)
    programs["path"] = path
    return version


def run(bench, programs):
    must_be_real(bench)
    if "path" not in programs:
        raise Skip("it could not be compiled")
    job = bench.job("runtime", [programs["path"]], "2GiB")
    job.wait_for("ready", 60)
    return job


def totals(bench, programs):
    job = run(bench, programs)
    return job.number("total") == LIMIT == job.number("properties_total"), \
        f"{job.fact('total')} and {job.fact('properties_total')}"


def works(bench, programs):
    job = run(bench, programs)
    results = {key: job.facts(key) for key in WORKS}
    bad = [f"{key} {' '.join(found)}" for key, found in results.items() if not found or set(found) != {"0 cudaSuccess"}]
    wrong = job.number("kernel_wrong") + job.number("graph_wrong")
    return not bad and wrong == 0, f"{len(WORKS) - len(bad)} of {len(WORKS)} work{': ' if bad else ''}{'; '.join(bad)}; " \
        f"{wrong} wrong elements"


def managed(bench, programs):
    job = run(bench, programs)
    return job.fact("managed").startswith("801 ") and job.fact("managed_offered") == "0", \
        f"{job.fact('managed')}; offered: {job.fact('managed_offered')}"


def fill(bench, programs):
    must_be_real(bench)
    with Watch(bench.nvml) as watch:
        job = run(bench, programs)
        held = watch.held()
    return job.fact("result").startswith("2 ") and watch.peak <= LIMIT and held >= LIMIT - 160 * MIB, \
        f"{job.fact('result')} after {job.fact('allocated_mib')} MiB; NVML: {mib(held)} held, at most {mib(watch.peak)}"
