"""Ways of allocating device memory that cannot be charged correctly are refused, as docs/isolation.md says."""
WAYS = {
    "managed": "cuMemAllocManaged",
}


def rows(bench):
    for how, text in WAYS.items():
        bench.check(text, "CUDA_ERROR_NOT_SUPPORTED, and a line in cgpud's log that names the job",
                    lambda: refused(bench, how))


def refused(bench, how):
    name = f"refused-{how}"
    job = bench.job(name, ["alloc", "--how", how, "--mib", "64"], "2GiB")
    job.wait(60)
    logged = bench.wait(5, lambda: name in bench.node.log())
    return job.fact("result") == "801 CUDA_ERROR_NOT_SUPPORTED" and logged, \
        f"{job.fact('result')}; {'in' if logged else 'not in'} the log"
