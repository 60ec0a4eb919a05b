#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "daemon/app/loop.hpp"

/// Waiting for any of several futex words.
namespace cgpu::app {

[[nodiscard]] Nanos monotonic_now();

/// Wakes who waits on the word, in this process or another.
void wake(std::atomic<std::uint32_t>& word);

/// Collect words with add (each with the value it has then), then sleep until one of them is another or it is
/// time.
///
/// futex_waitv (Linux 5.16) takes at most 128 words. Where it is missing, or there are more words, the wait
/// looks at all of them every kPollEvery instead as long as there is any bell to hear.
class BellWait {
  public:
    static constexpr Nanos kPollEvery = 250'000;
    static constexpr std::size_t kMostWords = 128;

    void clear() { words_.clear(); }
    void add(const std::atomic<std::uint32_t>& word);
    /// Returns at once where a word has changed since it was added. May return early.
    void until(Nanos deadline);

  private:
    struct Word {
        const std::atomic<std::uint32_t>* word;
        std::uint32_t value;
    };

    [[nodiscard]] bool changed() const;
    void poll_until(Nanos deadline) const;

    std::vector<Word> words_;
    bool waitv_missing_ = false;
};

}  // namespace cgpu::app
