#include "module/front/sizes/code_table.hpp"

#include <new>

#include "module/front/contexts/launch_changes.hpp"

namespace cgpu::front {

CodeTable::Entry** CodeTable::place_of(std::uint64_t handle) {
    Entry** place = &buckets_[(handle * kOdd >> 32) % kBuckets];
    while (*place != nullptr && (*place)->handle != handle) place = &(*place)->next;
    return place;
}

CodeTable::Entry* CodeTable::find_code(std::uint64_t handle) {
    Entry* entry = *place_of(handle);
    return entry != nullptr && entry->owner != 0 ? *place_of(entry->owner) : entry;
}

void CodeTable::put(const Entry& entry) {
    Entry** place = place_of(entry.handle);
    Entry* known = *place;
    // Without memory for an entry the code is loaded unannounced, and counted afterwards.
    if (known == nullptr) known = new (std::nothrow) Entry{};
    if (known == nullptr) return;
    Entry* next = known->next;
    *known = entry;
    known->next = next;
    *place = known;
}

void CodeTable::add(std::uint64_t code, std::uint64_t bytes, std::uint64_t loaded) {
    const Locked lock(mutex_);
    put({code, 0, bytes == 0 ? 1 : bytes, loaded, Part::other, nullptr});
}

void CodeTable::add_part(std::uint64_t part, std::uint64_t code, Part kind) {
    const Locked lock(mutex_);
    const Entry* owner = find_code(code);
    // Some drivers use one handle for a library and its module.
    if (owner == nullptr || owner->handle == part) return;
    // Programs ask for the same function again.
    const Entry* known = *place_of(part);
    const bool same = known != nullptr && known->owner == owner->handle;
    put({part, owner->handle, 0, same ? known->loaded : 0, kind, nullptr});
}

CodeTable::Part CodeTable::part(std::uint64_t handle) {
    const Locked lock(mutex_);
    const Entry* entry = *place_of(handle);
    return entry == nullptr ? Part::other : entry->kind;
}

std::uint64_t CodeTable::bytes_to_load(std::uint64_t handle, std::uint64_t context) {
    const Locked lock(mutex_);
    const Entry* code = find_code(handle);
    return code == nullptr || code->loaded == context ? 0 : code->bytes;
}

void CodeTable::loaded(std::uint64_t handle, std::uint64_t context) {
    const Locked lock(mutex_);
    if (Entry* code = find_code(handle)) code->loaded = context;
}

bool CodeTable::first_use(std::uint64_t handle, std::uint64_t context) {
    const Locked lock(mutex_);
    Entry* entry = *place_of(handle);
    if (entry == nullptr || entry->kind == Part::other || entry->loaded == context) return false;
    entry->loaded = context;
    return true;
}

std::uint64_t CodeTable::remove(std::uint64_t code) {
    const Locked lock(mutex_);
    std::uint64_t bytes = 0;
    for (Entry*& bucket : buckets_) {
        for (Entry** place = &bucket; *place != nullptr;) {
            Entry* entry = *place;
            if (entry->handle != code && entry->owner != code) {
                place = &entry->next;
                continue;
            }
            if (entry->owner == 0 && entry->loaded != 0) bytes = entry->bytes;
            *place = entry->next;
            delete entry;
        }
    }
    // Addresses of its functions may be used again.
    for (auto& met : met_) met.store(0, std::memory_order_relaxed);
    launch_changes.note();
    return bytes;
}

bool CodeTable::first_time(std::uint64_t function, std::uint64_t context) {
    const auto met = mark(function, context);
    if (was_met(met)) return false;
    met_[place_in_met(met)].store(met, std::memory_order_relaxed);
    return true;
}

void CodeTable::not_yet(std::uint64_t function, std::uint64_t context) {
    met_[place_in_met(mark(function, context))].store(0, std::memory_order_relaxed);
    launch_changes.note();
}

void CodeTable::reset_in_child() {
    mutex_.reset_in_child();
    buckets_.fill(nullptr);
    for (auto& met : met_) met.store(0, std::memory_order_relaxed);
    launch_changes.note();
}

}  // namespace cgpu::front
