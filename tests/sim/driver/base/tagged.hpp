#pragma once

#include <cstdint>

namespace simgpu {

/// The first part of every object that has a handle: it distinguishes a living object from garbage.
template <std::uint64_t Tag>
struct Tagged {
    std::uint64_t tag = Tag;

    Tagged() = default;
    ~Tagged() { *static_cast<volatile std::uint64_t*>(&tag) = 0; }
    Tagged(const Tagged&) = delete;
    Tagged& operator=(const Tagged&) = delete;
    static constexpr std::uint64_t kTag = Tag;
};

/// @return the object behind a handle, or nullptr if it isn't one of that type.
template <typename T, typename Handle>
T* from_handle(Handle* handle) {
    T* object = reinterpret_cast<T*>(handle);
    return object && object->tag == T::kTag ? object : nullptr;
}

}  // namespace simgpu
