// The private table of the driver of the NVML front's unit tests. Its size and version are the test's.
#include <cstdio>
#include <cstring>
#include <iterator>

#include "module/front/nvml/nvml_abi.hpp"
#include "module/front/nvml/private_table.hpp"
#include "tests/unit/module/front/support/front_nvml_table.hpp"

using namespace cgpu::front::nvml;

CGPU_NVML_HOOK testCard(unsigned card, Device* device);

namespace {

constexpr unsigned kPidsOfTable[] = {5, 1010, 9999, 1000};
const void* table[kWordsOfTable];
char nvml_version[80];

template <class Process>
int list(Device, unsigned* count, void* items) {
    if (count == nullptr) return 2;
    const unsigned room = *count;
    *count = std::size(kPidsOfTable);
    if (items == nullptr || room < std::size(kPidsOfTable)) return kInsufficientSize;
    auto* process = static_cast<Process*>(items);
    for (const unsigned pid : kPidsOfTable) {
        *process = {};
        process->pid = pid;
        process->used_bytes = 1ull << 30;
        std::snprintf(process->name, sizeof process->name, "driver's %u", pid);
        ++process;
    }
    return kSuccess;
}

/// nvidia-smi gives these flags. The instance's card comes second.
int by_index(unsigned index, Device* device, unsigned flags) {
    return flags == 0x22 ? testCard(1 - index, device) : kNotSupported;
}

int another() { return 0; }

}  // namespace

CGPU_NVML_HOOK front_test_table(std::size_t bytes, const char* version, int list_is_missing) {
    std::memcpy(table, &bytes, sizeof bytes);
    for (std::size_t entry = 1; entry < std::size(table); ++entry)
        table[entry] = reinterpret_cast<const void*>(&another);
    table[kHandleByIndex] = reinterpret_cast<const void*>(&by_index);
    for (const std::size_t entry : {kComputeList, kMpsList, kGraphicsList})
        table[entry] = bytes == 1904 ? reinterpret_cast<const void*>(&list<NamedProcess>)
                                     : reinterpret_cast<const void*>(&list<NamedProcessDetail>);
    if (list_is_missing != 0) table[kMpsList] = nullptr;
    std::snprintf(nvml_version, sizeof nvml_version, "%s", version);
    return 0;
}

CGPU_NVML_HOOK nvmlInternalGetExportTable(const void** to, const void*) {
    *to = table;
    return kSuccess;
}

CGPU_NVML_HOOK nvmlSystemGetNVMLVersion(char* text, unsigned length) {
    if (nvml_version[0] == '\0') return kUninitialized;
    std::snprintf(text, length, "%s", nvml_version);
    return kSuccess;
}

CGPU_NVML_HOOK nvmlSystemGetProcessName(unsigned pid, char* text, unsigned length) {
    std::snprintf(text, length, "process %u", pid);
    return kSuccess;
}
