#pragma once

#include <cstdint>

#include "daemon/app/ports/loop.hpp"

namespace cgpu::app {

/// Tells the memory of one process on one GPU that its module announced from what came past it.
///
/// What the driver shows of a process beyond its charges is contexts, code and heaps. The module announces
/// each of them (wire::Topic) and how much it may take; so much growth is explained, as far as the instance's
/// limit has room for it. What grows beyond that by more than `gap`, and stays for `patience`, is
/// unexplained, and stays so until it is gone: no later announcement explains it. While some is unexplained,
/// less room also explains less.
class Unexplained {
  public:
    struct Settings {
        std::uint64_t gap = 64ull << 20;  ///< bytes that drivers take without being asked (streams, buffers)
        Nanos patience = kSecond;         ///< an announcement may come a little after what it is about
    };
    /// What a look at the driver showed.
    struct Look {
        std::uint64_t bytes = 0;   ///< beyond the charges, at least
        bool settled = false;      ///< so much it is, with all that was announced
        std::uint64_t always = 0;  ///< explained without a word: a context that the module hasn't seen yet
        std::uint64_t room = 0;    ///< what the limit leaves for memory beyond charges
        Nanos now = 0;
    };
    static constexpr std::uint64_t kAnything = UINT64_MAX;

    /// It may grow by so many bytes, until a settled look has shown by how many it did.
    void may_grow(std::uint64_t bytes);
    /// It was told to be rid of so many.
    void should_shrink(std::uint64_t bytes);
    void seen(const Look& look, const Settings& settings);

    /// 0: all of it is explained.
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    /// Another look would tell more.
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
