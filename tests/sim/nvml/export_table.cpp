// The private table of functions from which NVIDIA's nvidia-smi takes GPUs and, from 525 on, the processes.
// It is not documented. What is here was seen in NVIDIA's libraries without a GPU (sizes, results before
// nvmlInit) and by running nvidia-smi on it (which entries it calls, with which arguments); NVIDIA's open
// mock of NVML (NVIDIA/k8s-test-infra) describes it, too.
#include <array>
#include <cstring>

#include "tests/sim/nvml/driver.hpp"
#include "tests/sim/nvml/process_uses.hpp"

using namespace simgpu;

namespace {

constexpr std::array<unsigned char, 16> kId = {0xc4, 0xfe, 0x3e, 0x6c, 0xc9, 0x8f, 0x6c, 0x4e,
                                               0xa3, 0x27, 0xee, 0x69, 0x6e, 0x12, 0xf7, 0xc4};

struct Process {
    unsigned int pid;
    unsigned long long bytes;
    unsigned int gpu_instance;
    unsigned int compute_instance;
    char name[4096];
};
static_assert(sizeof(Process) == 4120);

struct ProcessWithProtected {
    unsigned int pid;
    unsigned long long bytes;
    unsigned int gpu_instance;
    unsigned int compute_instance;
    unsigned long long protected_bytes;
    char name[4096];
};
static_assert(sizeof(ProcessWithProtected) == 4128);

template <typename Item>
Item item_of(const Use& use) {
    Item item{};
    item.pid = use.pid;
    item.bytes = use.bytes;
    item.gpu_instance = item.compute_instance = kNotPartitioned;
    if (nvmlSystemGetProcessName(use.pid, item.name, sizeof item.name) != NVML_SUCCESS) item.name[0] = '\0';
    return item;
}

template <IsListed is_listed>
nvmlReturn_t list(nvmlDevice_t handle, unsigned int* count, void* items) {
    if (kNvmlDriver.has_protected_bytes()) {
        return running_processes(handle, count, static_cast<ProcessWithProtected*>(items), is_listed,
                                 item_of<ProcessWithProtected>);
    }
    return running_processes(handle, count, static_cast<Process*>(items), is_listed, item_of<Process>);
}

nvmlReturn_t handle_by_index(unsigned int index, nvmlDevice_t* handle, unsigned int) {
    return nvmlDeviceGetHandleByIndex_v2(index, handle);
}

nvmlReturn_t has_monitoring(nvmlDevice_t handle, unsigned int* answer) {
    std::shared_ptr<Device> device;
    std::uint32_t gpu = 0;
    if (const nvmlReturn_t result = find_gpu(handle, device, gpu); result != NVML_SUCCESS) return result;
    if (!answer) return NVML_ERROR_INVALID_ARGUMENT;
    *answer = 1;
    return NVML_SUCCESS;
}

nvmlReturn_t not_supported() { return Node::device() ? NVML_ERROR_NOT_SUPPORTED : NVML_ERROR_UNINITIALIZED; }

constexpr std::size_t kHandleByIndex = 81;
constexpr std::size_t kHasMonitoring = 72;  // asked by `nvidia-smi dmon` and `pmon`
constexpr std::size_t kComputeProcesses = 213;
constexpr std::size_t kMpsProcesses = 214;
constexpr std::size_t kGraphicsProcesses = 215;
constexpr std::size_t kMostEntries = 256;

/// The first word is the table's size in bytes. NVIDIA's has no functions in the next two, and in some more.
using Table = std::array<const void*, kMostEntries>;

Table make_table() {
    Table table{};
    const std::size_t bytes = kNvmlDriver.table_bytes();
    std::memcpy(table.data(), &bytes, sizeof bytes);
    const auto set = [&](std::size_t entry, auto* function) {
        if (entry < bytes / sizeof table[0]) table[entry] = reinterpret_cast<const void*>(function);
    };
    for (std::size_t entry = 3; entry < table.size(); ++entry) set(entry, &not_supported);
    set(kHandleByIndex, &handle_by_index);
    set(kHasMonitoring, &has_monitoring);
    set(kComputeProcesses, &list<in_compute_list>);
    set(kMpsProcesses, &list<in_mps_list>);
    set(kGraphicsProcesses, &list<in_graphics_list>);
    return table;
}

}  // namespace

extern "C" {

nvmlReturn_t nvmlInternalGetExportTable(const void** table, const void* id) {
    if (!table || !id) return NVML_ERROR_INVALID_ARGUMENT;
    *table = nullptr;
    if (std::memcmp(id, kId.data(), kId.size()) != 0) return NVML_ERROR_INVALID_ARGUMENT;
    static const Table the_table = make_table();
    *table = the_table.data();
    return NVML_SUCCESS;
}

}  // extern "C"
