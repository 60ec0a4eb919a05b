#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// NVML's private table of functions (nvmlInternalGetExportTable), as far as the front replaces it. It isn't
/// documented. Ids, sizes and entries were seen in NVIDIA's libraries 470.256 to 555.58 and in what
/// nvidia-smi of those versions calls; NVIDIA's open mock of NVML (NVIDIA/k8s-test-infra) describes it for
/// 580.65.
namespace cgpu::front::nvml {

constexpr std::array<std::uint8_t, 16> kTableId = {0xc4, 0xfe, 0x3e, 0x6c, 0xc9, 0x8f, 0x6c, 0x4e,
                                                   0xa3, 0x27, 0xee, 0x69, 0x6e, 0x12, 0xf7, 0xc4};

/// The handle of the GPU with an index: int(unsigned index, Device*, unsigned).
constexpr std::size_t kHandleByIndex = 81;
/// Lists of processes: int(Device, unsigned* count, entry*). The table's first word is its size in bytes.
constexpr std::size_t kComputeList = 213;
constexpr std::size_t kMpsList = 214;
constexpr std::size_t kGraphicsList = 215;

/// An entry of these lists under 525.
struct NamedProcess {
    unsigned pid;
    unsigned long long used_bytes;
    unsigned gpu_instance;
    unsigned compute_instance;
    char name[4096];
};
static_assert(sizeof(NamedProcess) == 4120);

/// From 535 on.
struct NamedProcessDetail {
    unsigned pid;
    unsigned long long used_bytes;
    unsigned gpu_instance;
    unsigned compute_instance;
    unsigned long long protected_bytes;
    char name[4096];
};
static_assert(sizeof(NamedProcessDetail) == 4128);

enum class Layout {
    unknown,  ///< or without lists of processes, as in 470
    of_525,   ///< with NamedProcess
    of_535,   ///< with NamedProcessDetail
};

/// The layout of a table of this size under NVML of this version, as nvmlSystemGetNVMLVersion writes it. The
/// version may be empty: 525 doesn't tell it before nvmlInit.
constexpr Layout layout_of(std::size_t bytes, const char* version) {
    constexpr std::size_t kBytesOf525 = 1904;
    constexpr std::size_t kBytesOf535 = 1960;  // later drivers have added entries at the end only
    constexpr int kNewestKnown = 580;
    if (bytes == kBytesOf525) return Layout::of_525;
    if (bytes < kBytesOf535) return Layout::unknown;
    // CUDA's version, the driver's, and so on: "12.535.261.03".
    while (*version >= '0' && *version <= '9') ++version;
    int driver = 0;
    for (version += *version == '.' ? 1 : 0; *version >= '0' && *version <= '9' && driver < 10'000; ++version)
        driver = driver * 10 + (*version - '0');
    return driver >= 535 && driver <= kNewestKnown ? Layout::of_535 : Layout::unknown;
}

}  // namespace cgpu::front::nvml
