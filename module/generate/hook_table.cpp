#include "module/generate/hook_table.hpp"

#include <algorithm>

namespace cgpu::module {
namespace {

constexpr std::uint64_t kPerThread = 2;

/// The newest of a base's versions up to `version`; null if there is none.
const VersionedHook* newest_until(const HookTable& table, std::string_view base, bool per_thread,
                                  int version) {
    const auto after = std::upper_bound(table.versioned.begin(), table.versioned.end(), version,
                                        [&](int asked, const VersionedHook& row) {
                                            if (row.base != base) return base < row.base;
                                            if (row.per_thread != per_thread)
                                                return per_thread < row.per_thread;
                                            return asked < row.version;
                                        });
    if (after == table.versioned.begin()) return nullptr;
    const VersionedHook& row = *(after - 1);
    return row.base == base && row.per_thread == per_thread ? &row : nullptr;
}

const NamedHook* by_symbol(const HookTable& table, std::string_view symbol) {
    const auto found =
        std::lower_bound(table.named.begin(), table.named.end(), symbol,
                         [](const NamedHook& row, std::string_view asked) { return row.symbol < asked; });
    return found != table.named.end() && found->symbol == symbol ? &*found : nullptr;
}

}  // namespace

const void* find_hook(const HookTable& table, std::string_view name, int version, std::uint64_t flags) {
    const VersionedHook* row = nullptr;
    if ((flags & kPerThread) != 0) row = newest_until(table, name, true, version);
    if (row == nullptr) row = newest_until(table, name, false, version);
    if (row != nullptr) return reinterpret_cast<const void*>(row->hook);

    const bool is_base = std::any_of(table.versioned.begin(), table.versioned.end(),
                                     [&](const VersionedHook& each) { return each.base == name; });
    const NamedHook* named = is_base ? nullptr : by_symbol(table, name);
    return named != nullptr ? reinterpret_cast<const void*>(named->hook) : nullptr;
}

}  // namespace cgpu::module
