#pragma once

#include <cstdint>
#include <span>

#include "core/wire/pages.hpp"
#include "daemon/app/ports/ports.hpp"

namespace cgpu::link {

/// A page (wire::kPageBytes, zeroed) that this process shares with another by a sealed memfd. It is unmapped
/// and closed at this object's end; a process that got the descriptor keeps the page.
class SharedPage {
  public:
    enum class Writer {
        daemon,  ///< only this mapping can ever write it
        module,  ///< holders of the descriptor write, this mapping only reads
    };

    /// Error: storage (no memory or descriptors left). `head`: the first words of the page.
    static app::Result<SharedPage> make(const char* name, Writer writer, std::span<const std::uint32_t> head);
    SharedPage(SharedPage&& other) noexcept;
    SharedPage& operator=(SharedPage&&) = delete;
    ~SharedPage();

    [[nodiscard]] int fd() const { return fd_; }
    /// The page as a wire struct, whose members are atomics and plain numbers, all valid as zeros.
    template <class T>
    [[nodiscard]] T* as() const {
        static_assert(sizeof(T) <= wire::kPageBytes);
        return static_cast<T*>(mapped_);
    }

  private:
    SharedPage(int fd, void* mapped) : fd_(fd), mapped_(mapped) {}

    int fd_;
    void* mapped_;
};

}  // namespace cgpu::link
