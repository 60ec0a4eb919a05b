"""NVML decides about bytes. It is asked from outside of every job, where there is no front of cgpu."""
import ctypes
import threading
import time

NO_FIGURE = 2**64 - 1  # NVML_VALUE_NOT_AVAILABLE


class Memory(ctypes.Structure):  # nvmlMemory_t
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]


class Process(ctypes.Structure):  # nvmlProcessInfo_v2_t
    _fields_ = [("pid", ctypes.c_uint), ("bytes", ctypes.c_ulonglong), ("gpu_instance", ctypes.c_uint),
                ("compute_instance", ctypes.c_uint)]


class NvmlError(Exception):
    pass


class Nvml:
    """GPU 0 of the machine. NvmlError from the constructor: no driver, or no GPU."""

    def __init__(self):
        try:
            self._library = ctypes.CDLL("libnvidia-ml.so.1")
        except OSError as error:
            raise NvmlError(f"no NVIDIA driver: {error}") from None
        self._library.nvmlErrorString.restype = ctypes.c_char_p
        self._call("nvmlInit_v2")
        self._device = ctypes.c_void_p()
        self._call("nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(0), ctypes.byref(self._device))

    def _call(self, name, *arguments):
        code = getattr(self._library, name)(*arguments)
        if code != 0:
            raise NvmlError(f"{name}: {self._library.nvmlErrorString(code).decode()}")

    def _text(self, name, *before):
        buffer = ctypes.create_string_buffer(96)
        self._call(name, *before, buffer, ctypes.c_uint(96))
        return buffer.value.decode()

    def name(self):
        return self._text("nvmlDeviceGetName", self._device)

    def uuid(self):
        return self._text("nvmlDeviceGetUUID", self._device)

    def driver(self):
        return self._text("nvmlSystemGetDriverVersion")

    def cuda(self):
        """Return the newest CUDA version that the driver supports, as 13.0."""
        version = ctypes.c_int()
        self._call("nvmlSystemGetCudaDriverVersion_v2", ctypes.byref(version))
        return f"{version.value // 1000}.{version.value % 1000 // 10}"

    def capability(self):
        """Return it as nvcc names it: 90."""
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._call("nvmlDeviceGetCudaComputeCapability", self._device, ctypes.byref(major), ctypes.byref(minor))
        return f"{major.value}{minor.value}"

    def memory(self):
        memory = Memory()
        self._call("nvmlDeviceGetMemoryInfo", self._device, ctypes.byref(memory))
        return memory

    def processes(self):
        """Return bytes by pid; None for a process for which the driver has no figure."""
        count = ctypes.c_uint(1024)
        found = (Process * 1024)()
        self._call("nvmlDeviceGetComputeRunningProcesses_v3", self._device, ctypes.byref(count), found)
        return {entry.pid: None if entry.bytes == NO_FIGURE else entry.bytes for entry in found[:count.value]}


class Watch:
    """Measure what all processes on the GPU hold together, and the peak, beyond what was held when the measurement began."""

    INTERVAL = 0.005

    def __init__(self, nvml):
        self._nvml = nvml
        self._others = nvml.processes()
        self._used_before = nvml.memory().used
        self._stop = threading.Event()
        self.peak = 0
        self.history = []  # (CLOCK_MONOTONIC in ns, bytes by pid), an entry for each change
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()

    def _run(self):
        while not self._stop.is_set():
            self.peak = max(self.peak, self.held())
            time.sleep(self.INTERVAL)

    def by_process(self):
        """Return whether the driver tells what each process holds; otherwise held() is the card's figure."""
        return all(value is not None for value in self._nvml.processes().values())

    def held(self):
        new = {pid: value for pid, value in self._nvml.processes().items() if pid not in self._others}
        if not self.history or self.history[-1][1] != new:
            self.history.append((time.monotonic_ns(), new))
        if any(value is None for value in new.values()):
            return self.card()
        return sum(new.values())

    def card(self):
        return self._nvml.memory().used - self._used_before
