#pragma once

#include <algorithm>
#include <type_traits>

#include "module/front/nvml/nvml_abi.hpp"
#include "module/front/nvml/nvml_usage.hpp"

/// Lists of processes, in NVML's form.
namespace cgpu::front::nvml {

/// The instance's processes on the device; none if the device isn't the instance's. Otherwise the error to
/// return.
inline int own_processes(Device device, ProcessList& own) {
    const UuidText uuid(device);
    if (!uuid.known()) return uuid.why_unknown;
    return instance_processes(uuid.text, own) == Found::no_daemon ? kUnknown : kSuccess;
}

/// NVML's rule for arrays: `count` is the caller's room before the call and the number of elements
/// afterwards; too little room, or none, is an error.
template <class Item>
int hand_over(const Item* items, unsigned found, unsigned* count, Item* to) {
    const unsigned room = *count;
    *count = found;
    if (found == 0) return kSuccess;
    if (to == nullptr || room < found) return kInsufficientSize;
    std::copy_n(items, found, to);
    return kSuccess;
}

template <class Item>
unsigned pid_of(const Item& item) {
    if constexpr (std::is_same_v<Item, unsigned>)
        return item;
    else
        return item.pid;
}

/// All entries of the driver's list. fetch(unsigned* count, Item* items) queries it.
template <class Item, class Fetch>
int fetch_all(Buffer<Item>& items, unsigned& found, Fetch fetch) {
    constexpr unsigned kSpare = 16;  // others may come before the next call
    constexpr int kMostTries = 8;
    for (int tries = 0; tries < kMostTries; ++tries) {
        const auto room = static_cast<unsigned>(items.room());
        found = room;
        const int result = fetch(&found, items.data());
        // If asked only for the size, some functions return this error, others success.
        const bool too_small = result == kInsufficientSize || (result == kSuccess && found > room);
        if (!too_small) return result;
        if (!items.grow(std::max(found, room) + kSpare)) return kNoMemory;
    }
    return kUnknown;
}

/// The entries of the driver's list that are the instance's own. If an entry has the memory of the process,
/// it is replaced by what the instance is charged for it.
template <class Item, class Fetch>
int list_own(Device device, unsigned* count, Item* to, Fetch fetch) {
    if (count == nullptr) return fetch(count, to);
    Buffer<Item> items;
    unsigned found = 0;
    int result = fetch_all(items, found, fetch);
    ProcessList own;
    if (result == kSuccess) result = own_processes(device, own);
    if (result != kSuccess) {
        *count = 0;
        return result;
    }
    unsigned kept = 0;
    for (unsigned i = 0; i < found; ++i) {
        Item item = items.data()[i];
        const wire::ProcessUse* use = own.find(pid_of(item));
        if (use == nullptr) continue;
        if constexpr (requires { item.used_bytes; }) item.used_bytes = use->used_bytes;
        items.data()[kept++] = item;
    }
    return hand_over(items.data(), kept, count, to);
}

}  // namespace cgpu::front::nvml
