// The front for NVML: the private table of functions from which NVIDIA's nvidia-smi takes its processes. A
// program gets a copy of the driver's table, in which the lists of processes and the index of a GPU are the
// front's.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "module/front/nvml/nvml_abi.hpp"
#include "module/front/nvml/nvml_devices.hpp"
#include "module/front/nvml/nvml_lists.hpp"
#include "module/front/nvml/private_table.hpp"

namespace wire = cgpu::wire;
using namespace cgpu::front;
using namespace cgpu::front::nvml;

namespace {

using Lister = int (*)(Device, unsigned* count, void* items);
using Table = const void* const*;

constexpr std::size_t kMostEntries = 512;
/// The driver's table, once it has been asked for.
constinit std::atomic<Table> driver_table{nullptr};
/// The copy. Each word is written with the same value whoever does it, so no lock is needed.
constinit std::array<std::atomic<const void*>, kMostEntries> copy{};
static_assert(sizeof copy == kMostEntries * sizeof(void*) && std::atomic<const void*>::is_always_lock_free);

int ask_driver(std::size_t entry, Device device, unsigned* count, void* items) {
    const void* function = driver_table.load()[entry];
    return reinterpret_cast<Lister>(const_cast<void*>(function))(device, count, items);
}

int handle_by_index(unsigned own, Device* device, unsigned flags) {
    unsigned index = 0;
    if (const int result = driver_index_of(own, index); result != kSuccess) return result;
    const void* function = driver_table.load()[kHandleByIndex];
    return reinterpret_cast<int (*)(unsigned, Device*, unsigned)>(const_cast<void*>(function))(index, device,
                                                                                               flags);
}

template <class Process>
void describe(const wire::ProcessUse& use, Process& process) {
    process = {};
    process.pid = use.pid;
    process.used_bytes = use.used_bytes;
    process.gpu_instance = process.compute_instance = kNotPartitioned;
    const auto name = real<int (*)(unsigned, char*, unsigned)>("nvmlSystemGetProcessName");
    if (name == nullptr || name(use.pid, process.name, sizeof process.name) != kSuccess)
        process.name[0] = '\0';
}

/// The driver is called with the caller's own array, which has the driver's layout whatever the front
/// believes. What it wrote there of other instances is wiped.
template <class Process>
struct CallersArray {
    CallersArray(const unsigned* count, void* array)
        : room(count != nullptr && array != nullptr ? *count : 0), items(static_cast<Process*>(array)) {}
    void wipe(unsigned from, unsigned to) {
        for (unsigned i = from; i < std::min(to, room); ++i) items[i] = {};
    }
    const unsigned room;
    Process* const items;
};

/// The processes with a context: from the daemon.
template <class Process>
int compute_list(Device device, unsigned* count, void* items) {
    CallersArray<Process> array(count, items);
    const int good = ask_driver(kComputeList, device, count, items);
    if ((good != kSuccess && good != kInsufficientSize) || count == nullptr) return good;
    array.wipe(0, *count);
    *count = 0;
    ProcessList own;
    if (const int refused = own_processes(device, own); refused != kSuccess) return refused;
    *count = own.size();
    if (array.room < own.size()) return kInsufficientSize;
    for (unsigned i = 0; i < own.size(); ++i) describe(own.begin()[i], array.items[i]);
    return kSuccess;
}

/// For graphics and MPS: the entries of the driver's list that are the instance's.
template <class Process, std::size_t entry>
int own_list(Device device, unsigned* count, void* items) {
    CallersArray<Process> array(count, items);
    const int result = ask_driver(entry, device, count, items);
    if (result != kSuccess || count == nullptr || items == nullptr) return result;
    const unsigned found = std::min(*count, array.room);
    ProcessList own;
    const int refused = own_processes(device, own);
    unsigned kept = 0;
    for (unsigned i = 0; i < found && refused == kSuccess; ++i) {
        const wire::ProcessUse* use = own.find(array.items[i].pid);
        if (use == nullptr) continue;
        if (kept != i) array.items[kept] = array.items[i];
        array.items[kept++].used_bytes = use->used_bytes;
    }
    array.wipe(kept, found);
    *count = kept;
    return refused;
}

/// The front's function for an entry; null: it is the driver's.
template <class Process>
const void* own_entry(std::size_t entry) {
    switch (entry) {
        case kHandleByIndex:
            return reinterpret_cast<const void*>(&handle_by_index);
        case kComputeList:
            return reinterpret_cast<const void*>(&compute_list<Process>);
        case kMpsList:
            return reinterpret_cast<const void*>(&own_list<Process, kMpsList>);
        case kGraphicsList:
            return reinterpret_cast<const void*>(&own_list<Process, kGraphicsList>);
        default:
            return nullptr;
    }
}

Layout layout_of_driver(std::size_t bytes) {
    char version[80] = "";
    const auto get = real<int (*)(char*, unsigned)>("nvmlSystemGetNVMLVersion");
    if (get == nullptr || get(version, sizeof version) != kSuccess) version[0] = '\0';
    return layout_of(bytes, version);
}

/// The copy; the table itself if its layout isn't known.
const void* copy_of(const void* table) {
    std::size_t bytes = 0;
    std::memcpy(&bytes, table, sizeof bytes);
    if (bytes > sizeof copy) return table;
    const Layout layout = layout_of_driver(bytes);
    if (layout == Layout::unknown) return table;
    const auto words = static_cast<Table>(table);
    Table first = nullptr;
    if (!driver_table.compare_exchange_strong(first, words) && first != words) return table;
    for (std::size_t entry = 0; entry < bytes / sizeof(void*); ++entry) {
        const void* own =
            layout == Layout::of_525 ? own_entry<NamedProcess>(entry) : own_entry<NamedProcessDetail>(entry);
        copy[entry].store(own != nullptr && words[entry] != nullptr ? own : words[entry]);
    }
    return copy.data();
}

}  // namespace

CGPU_NVML_HOOK nvmlInternalGetExportTable(const void** table, const void* id) {
    const auto function = real<int (*)(const void**, const void*)>("nvmlInternalGetExportTable");
    if (function == nullptr) return kFunctionNotFound;
    const int result = function(table, id);
    if (result != kSuccess || table == nullptr || *table == nullptr || id == nullptr) return result;
    if (std::memcmp(id, kTableId.data(), kTableId.size()) == 0) *table = copy_of(*table);
    return result;
}
