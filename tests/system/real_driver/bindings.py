"""bindings.py FOLDER: what NVML's bindings for Python, in FOLDER, tell of memory and processes."""
import sys

sys.path.insert(0, sys.argv[1])
import pynvml

pynvml.nvmlInit()
for index in range(pynvml.nvmlDeviceGetCount()):
    device = pynvml.nvmlDeviceGetHandleByIndex(index)
    try:
        memory = pynvml.nvmlDeviceGetMemoryInfo(device)
        print(index, "memory", memory.total, memory.used)
    except pynvml.NVMLError as error:
        print(index, "memory", error)
    for kind, ask in (("compute", pynvml.nvmlDeviceGetComputeRunningProcesses),
                      ("graphics", pynvml.nvmlDeviceGetGraphicsRunningProcesses)):
        for process in sorted(ask(device), key=lambda process: process.pid):
            print(index, kind, process.pid, process.usedGpuMemory)
