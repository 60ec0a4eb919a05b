#pragma once

#include <cstdint>

#include "daemon/app/ports/loop.hpp"

namespace cgpu::app {

/// Separates the memory of one process on one GPU that its module announced from memory that came without the
/// module.
///
/// The driver's figure for a process beyond its charges is contexts, code and heaps. The module announces
/// each of them (wire::Topic) and how much it may take. That much growth is explained, as far as the
/// instance's limit has room for it. Growth beyond that by more than `gap` that lasts for `patience` is
/// unexplained, and stays so until it is freed: no later announcement explains it. While some is unexplained,
/// less room also explains less.
class Unexplained {
  public:
    struct Settings {
        std::uint64_t gap = 64ull << 20;  ///< bytes that drivers take for themselves (streams, buffers)
        Nanos patience = kSecond;         ///< an announcement may arrive slightly after the memory was taken
    };
    /// The result of a query of the driver.
    struct Look {
        std::uint64_t bytes = 0;   ///< beyond the charges, at least
        bool settled = false;      ///< the figure includes everything that was announced
        std::uint64_t always = 0;  ///< needs no announcement: a context that the module doesn't know yet
        std::uint64_t room = 0;    ///< what the limit leaves for memory beyond charges
        Nanos now = 0;
    };
    static constexpr std::uint64_t kAnything = UINT64_MAX;

    /// It may grow by this many bytes, until a settled query has shown by how many it did.
    void may_grow(std::uint64_t bytes);
    /// It was told to free this many bytes.
    void should_shrink(std::uint64_t bytes);
    void seen(const Look& look, const Settings& settings);

    /// 0: all memory is explained.
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    /// Whether another query would tell more.
    [[nodiscard]] bool suspected() const { return since_ != 0 && bytes_ == 0; }
    /// Some of it is unexplained, or has been since less than `patience`.
    [[nodiscard]] bool blamed() const { return since_ != 0; }

  private:
    std::uint64_t explained_ = 0;
    std::uint64_t growth_ = 0;
    std::uint64_t bytes_ = 0;
    Nanos since_ = 0;  ///< 0: nothing is unexplained
};

}  // namespace cgpu::app
