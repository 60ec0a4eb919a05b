"""Prints what NVML's private table answers without a GPU, and how many of its functions are another library's than the rest."""
import collections
import ctypes

TABLE = bytes.fromhex("c4fe3e6cc98f6c4ea327ee696e12f7c4")
LISTS = range(213, 216)
mappings = []


def file_of(address):
    if not mappings:
        with open("/proc/self/maps") as lines:
            for line in lines:
                fields = line.split()
                first, end = (int(number, 16) for number in fields[0].split("-"))
                mappings.append((first, end, fields[3:5]))  # device and inode
    return next((str(file) for first, end, file in mappings if first <= address < end), "?")


def answers(table):
    count = ctypes.c_uint(0)
    function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    for entry in LISTS:
        if entry < table[0] // 8 and table[entry]:
            print("list", entry, function(table[entry])(1, ctypes.addressof(count), None))


nvml = ctypes.CDLL("libnvidia-ml.so.1")
address = ctypes.c_void_p(1)
print("unknown", nvml.nvmlInternalGetExportTable(ctypes.byref(address), bytes(16)), address.value)
print("table", nvml.nvmlInternalGetExportTable(ctypes.byref(address), TABLE))
table = ctypes.cast(address, ctypes.POINTER(ctypes.c_uint64))
functions = [table[entry] for entry in range(1, table[0] // 8)]
print("bytes", table[0], "of which null", functions.count(0))
answers(table)
print("init", nvml.nvmlInit_v2())
answers(table)
files = collections.Counter(file_of(function) for function in functions if function)
print("replaced", sum(files.values()) - files.most_common(1)[0][1])
