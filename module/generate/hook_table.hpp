#pragma once

#include <cstdint>
#include <span>
#include <string_view>

/// Which hook answers a look-up by cuGetProcAddress. The table is generated from cuda_api.tsv and the front's
/// hooks.txt.
namespace cgpu::module {

using Hook = void (*)();

/// One version of a function as cuGetProcAddress finds it.
struct VersionedHook {
    std::string_view base;  ///< "cuMemAlloc"
    bool per_thread;        ///< the _ptsz or _ptds variant
    int version;            ///< introduced with this CUDA version (1000 * major + 10 * minor)
    Hook hook;              ///< null: this one is not hooked
};

/// A hook by its exported symbol.
struct NamedHook {
    std::string_view symbol;  ///< "cuMemAlloc_v2"
    Hook hook;
};

struct HookTable {
    std::span<const VersionedHook> versioned;  ///< sorted by base, per_thread, version
    std::span<const NamedHook> named;          ///< sorted by symbol
    int newest_version;                        ///< the CUDA version that the facts are from
};

/// The table of the front that this is linked into (generated).
const HookTable& hook_table();

/// The hook to return if the real cuGetProcAddress found `name` at `version` with `flags`; null: the real
/// function stays. Of several versions it is the newest that is not newer than requested; with
/// CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM (2) it is the per-thread variant, if there is one (cuda.h,
/// CUdriverProcAddress_flags). An exported symbol's own name ("cuMemAlloc_v2") finds its hook at any version.
///
/// Versions beyond HookTable::newest_version are unknown: a driver may have a newer function with other
/// arguments there. A caller that requests one should also ask the driver at newest_version, and substitute
/// only if both answers are the same address.
const void* find_hook(const HookTable& table, std::string_view name, int version, std::uint64_t flags);

inline const void* find_hook(std::string_view name, int version, std::uint64_t flags) {
    return find_hook(hook_table(), name, version, flags);
}

}  // namespace cgpu::module
