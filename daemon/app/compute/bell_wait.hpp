#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "daemon/app/ports/loop.hpp"

/// Waiting for any of several futex words.
namespace cgpu::app {

[[nodiscard]] Nanos monotonic_now();

/// Wakes who waits on the word, in this process or another.
void wake(std::atomic<std::uint32_t>& word);

/// Whether this kernel has futex_waitv (Linux 5.16) and lets us call it. Asked once.
[[nodiscard]] bool can_wait_for_many();

/// Collect words with add, then sleep until one of them is another or it is time.
///
/// futex_waitv takes at most 128 words. Where it is missing, or there are more words, the wait looks at all
/// of them every kPollEvery instead as long as there is any bell to hear.
class BellWait {
  public:
    static constexpr Nanos kPollEvery = 250'000;
    static constexpr std::size_t kMostWords = 128;

    /// `polls`: look at the words every kPollEvery, as where futex_waitv is missing.
    explicit BellWait(bool polls = !can_wait_for_many()) : polls_(polls) {}

    void clear() { words_.clear(); }
    [[nodiscard]] std::size_t size() const { return words_.size(); }
    /// The value it has now, or that it had when it was looked at.
    void add(const std::atomic<std::uint32_t>& word);
    void add(const std::atomic<std::uint32_t>& word, std::uint32_t value) {
        words_.push_back({&word, value});
    }
    /// Returns at once where a word isn't what it was added with. May return early. Returns which word
    /// somebody woke it by, in the order of add(); empty where it was none, or nobody knows which.
    std::optional<std::size_t> until(Nanos deadline);

    /// A word isn't what it was added with.
    [[nodiscard]] bool changed() const;

  private:
    struct Word {
        const std::atomic<std::uint32_t>* word;
        std::uint32_t value;
    };

    void poll_until(Nanos deadline) const;

    std::vector<Word> words_;
    bool polls_;
};

}  // namespace cgpu::app
