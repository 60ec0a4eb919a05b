#include "module/generate/hook_table.hpp"

#include <algorithm>
#include <functional>

namespace cgpu::module {

const void* HooksByAddress::answer(std::string_view name, const void* answered,
                                   void* (*address_of)(const char* symbol)) {
    if (count_.load(std::memory_order_acquire) == 0) find_places(address_of);
    if (const HookRow* row = row_at(answered))
        return row->hook != nullptr ? reinterpret_cast<const void*>(row->hook) : answered;
    return has_hook(name) ? nullptr : answered;
}

void HooksByAddress::find_places(void* (*address_of)(const char* symbol)) {
    struct Found {
        const void* address;
        std::size_t row;
    };
    const auto rows = table_();
    std::array<Found, kMostHookRows> found;
    std::size_t count = 0;
    for (std::size_t row = 0; row < std::min(rows.size(), kMostHookRows); ++row)
        if (const void* address = address_of(rows[row].symbol)) found[count++] = {address, row};
    std::sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count),
              [](const Found& left, const Found& right) {
                  return left.address != right.address ? std::less<>()(left.address, right.address)
                                                       : left.row < right.row;
              });
    for (std::size_t i = 0; i < count; ++i) {
        places_[i].address.store(found[i].address, std::memory_order_relaxed);
        places_[i].row.store(found[i].row, std::memory_order_relaxed);
    }
    count_.store(count, std::memory_order_release);
}

const HookRow* HooksByAddress::row_at(const void* address) const {
    const auto* const end = places_.begin() + count_.load(std::memory_order_acquire);
    const auto* const place =
        std::lower_bound(places_.begin(), end, address, [](const Place& each, const void* asked) {
            return std::less<>()(each.address.load(std::memory_order_relaxed), asked);
        });
    if (place == end || place->address.load(std::memory_order_relaxed) != address) return nullptr;
    return &table_()[place->row.load(std::memory_order_relaxed)];
}

bool HooksByAddress::has_hook(std::string_view base) const {
    const auto rows = table_();
    const auto row =
        std::lower_bound(rows.begin(), rows.end(), base,
                         [](const HookRow& each, std::string_view asked) { return each.base < asked; });
    return row != rows.end() && row->base == base;
}

}  // namespace cgpu::module
