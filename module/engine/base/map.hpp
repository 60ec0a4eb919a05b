#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include "module/engine/abi/api.hpp"

namespace cgpu::module {

/// A hash map from 64-bit keys to plain values, in memory of the host. Without memory it returns an error
/// instead of throwing: the engine is a guest in the program's process. Pointers to values are valid until
/// the next change.
template <class Value>
class Map {
    static_assert(std::is_trivially_copyable_v<Value>);

  public:
    explicit Map(const EngineHost& host) : host_(host) {}
    ~Map() { host_.free(slots_); }
    Map(const Map&) = delete;
    Map& operator=(const Map&) = delete;

    std::size_t size() const { return size_; }

    /// Reserves memory for the next `count` insertions. False: there is none.
    bool make_room(std::size_t count) {
        std::size_t capacity = capacity_ == 0 ? kSmallest : capacity_;
        while ((size_ + count) * 4 > capacity * 3) capacity *= 2;
        return capacity == capacity_ || rehash(capacity);
    }

    Value* find(std::uint64_t key) {
        if (capacity_ == 0) return nullptr;
        Slot& slot = slots_[place_of(key)];
        return slot.used ? &slot.value : nullptr;
    }

    /// The value of a key, created from `fresh` if it is new. Null: no memory.
    Value* insert(std::uint64_t key, const Value& fresh) {
        if (Value* known = find(key)) return known;
        if (!make_room(1)) return nullptr;
        Slot& slot = slots_[place_of(key)];
        slot = {key, fresh, true};
        ++size_;
        return &slot.value;
    }

    void erase(std::uint64_t key) {
        if (capacity_ == 0) return;
        const std::size_t place = place_of(key);
        if (slots_[place].used) erase_at(place);
    }

    template <class Visit>  // void(std::uint64_t key, Value&)
    void each(Visit visit) {
        for (std::size_t i = 0; i < capacity_; ++i) {
            if (slots_[i].used) visit(slots_[i].key, slots_[i].value);
        }
    }

    template <class Test>  // bool(std::uint64_t key, Value&): true erases
    void erase_if(Test test) {
        for (std::size_t i = 0; i < capacity_;) {
            if (slots_[i].used && test(slots_[i].key, slots_[i].value)) {
                erase_at(i);  // moves a later entry here, so the place is looked at again
            } else {
                ++i;
            }
        }
    }

  private:
    struct Slot {
        std::uint64_t key;
        Value value;
        bool used;
    };
    static constexpr std::size_t kSmallest = 32;

    static std::uint64_t mix(std::uint64_t key) {  // the finaliser of splitmix64
        key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9ull;
        key = (key ^ (key >> 27)) * 0x94d049bb133111ebull;
        return key ^ (key >> 31);
    }
    std::size_t home_of(std::uint64_t key) const { return mix(key) & (capacity_ - 1); }

    /// The place of the key, or the free place where it would be inserted.
    std::size_t place_of(std::uint64_t key) const {
        std::size_t place = home_of(key);
        while (slots_[place].used && slots_[place].key != key) place = (place + 1) & (capacity_ - 1);
        return place;
    }

    /// Closes the hole by moving up entries that were displaced beyond it, so that erased entries need no
    /// marks.
    void erase_at(std::size_t hole) {
        std::size_t next = hole;
        for (;;) {
            next = (next + 1) & (capacity_ - 1);
            if (!slots_[next].used) break;
            const std::size_t distance_from_home = (next - home_of(slots_[next].key)) & (capacity_ - 1);
            const std::size_t distance_from_hole = (next - hole) & (capacity_ - 1);
            if (distance_from_home < distance_from_hole) continue;
            slots_[hole] = slots_[next];
            hole = next;
        }
        slots_[hole].used = false;
        --size_;
    }

    bool rehash(std::size_t capacity) {
        void* memory = host_.allocate(capacity * sizeof(Slot));
        if (memory == nullptr) return false;
        Slot* old = slots_;
        const std::size_t old_capacity = capacity_;
        slots_ = new (memory) Slot[capacity]{};
        capacity_ = capacity;
        for (std::size_t i = 0; i < old_capacity; ++i) {
            if (old[i].used) slots_[place_of(old[i].key)] = old[i];
        }
        host_.free(old);
        return true;
    }

    const EngineHost host_;
    Slot* slots_ = nullptr;
    std::size_t capacity_ = 0;  // 0 or a power of two
    std::size_t size_ = 0;
};

}  // namespace cgpu::module
