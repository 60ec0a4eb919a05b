#pragma once

#include <cstddef>
#include <cstdlib>
#include <type_traits>

namespace cgpu::front {

/// A growing array; without memory it returns an error instead of throwing.
template <class T>
class Buffer {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    Buffer() = default;
    ~Buffer() { std::free(items_); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    /// Makes room for this many elements; the content stays. False: there is no memory, and nothing has
    /// changed.
    bool grow(std::size_t room) {
        if (room <= room_) return true;
        void* items = std::realloc(items_, room * sizeof(T));
        if (items == nullptr) return false;
        items_ = static_cast<T*>(items);
        room_ = room;
        return true;
    }
    [[nodiscard]] std::size_t room() const { return room_; }
    [[nodiscard]] T* data() { return items_; }
    [[nodiscard]] const T* data() const { return items_; }

  private:
    T* items_ = nullptr;
    std::size_t room_ = 0;
};

}  // namespace cgpu::front
