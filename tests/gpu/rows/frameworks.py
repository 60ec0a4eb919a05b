"""Other frameworks than PyTorch under limits, where python3 has them."""
import os
import subprocess

import pytorch
from bench import GIB, Skip, mib
from nvml import Watch

LIMIT = 4 * GIB


def rows(bench):
    bench.check("CuPy: a product, a kernel compiled by NVRTC, allocations until one is refused",
                f"total {LIMIT} bytes, right results, OutOfMemoryError, it computes on; NVML never says more than {mib(LIMIT)}",
                lambda: cupy(bench))
    bench.check("JAX: a product, and an array beyond the limit",
                f"no more than {LIMIT} bytes for it, right results, RESOURCE_EXHAUSTED, it computes on; NVML never says more than "
                f"{mib(LIMIT)}", lambda: jax(bench))
    bench.check("Triton: a kernel", "right results", lambda: triton(bench))


def start(bench, name):
    """Return the running program and NVML's peak. Skip: python3 doesn't have the framework."""
    python = pytorch.python(bench)
    asked = subprocess.run([python, "-c", f"import importlib.util as u; print(u.find_spec('{name}') is not None)"],
                           capture_output=True, text=True, timeout=60, check=False)
    if asked.stdout.strip() != "True":
        raise Skip(f"python3 here has no {name}")
    with Watch(bench.nvml) as watch:
        job = bench.job(name, [python, "-B", os.path.join(pytorch.PROGRAMS, f"framework_{name}.py")], "4GiB")
        job.wait_for("ready", 120)
    return job, watch.peak


def cupy(bench):
    job, peak = start(bench, "cupy")
    right = (job.number("total") == LIMIT and job.number("wrong") == 0 and job.fact("error") == "OutOfMemoryError" and
             job.fact("after") == "works" and peak <= LIMIT)
    return right, (f"CuPy {job.fact('version')}: total {job.fact('total')}, {job.fact('wrong')} wrong, {job.fact('error')} after "
                   f"{job.fact('allocated_mib')} MiB, after that {job.fact('after')}; NVML: at most {mib(peak)}")


def jax(bench):
    job, peak = start(bench, "jax")
    right = (0 < job.number("total") <= LIMIT and job.number("wrong") == 0 and job.fact("error") == "RESOURCE_EXHAUSTED" and
             job.fact("after") == "works" and peak <= LIMIT)
    return right, (f"JAX {job.fact('version')}: may take {job.fact('total')}, {job.fact('wrong')} wrong, {job.fact('error')}, after that "
                   f"{job.fact('after')}; NVML: at most {mib(peak)}")


def triton(bench):
    job, peak = start(bench, "triton")
    return job.number("wrong") == 0, f"Triton {job.fact('version')}: {job.fact('wrong')} wrong; NVML: at most {mib(peak)}"
