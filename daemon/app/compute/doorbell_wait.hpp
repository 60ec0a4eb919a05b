#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "daemon/app/ports/loop.hpp"

/// Waits for any of several futex words.
namespace cgpu::app {

[[nodiscard]] Nanos monotonic_now();

/// Wakes threads that wait on the word, in this process or another.
void wake(std::atomic<std::uint32_t>& word);

/// Whether this kernel has futex_waitv (Linux 5.16) and permits it. Checked once.
[[nodiscard]] bool can_wait_for_many();

/// Collect words with add, then sleep until one of them changes or until the deadline.
///
/// futex_waitv takes at most 128 words. If it is missing, or there are more words, the wait polls all of them
/// every kPollEvery instead, as long as there is any doorbell.
class DoorbellWait {
  public:
    static constexpr Nanos kPollEvery = 250'000;
    static constexpr std::size_t kMostWords = 128;

    /// `polls`: poll the words every kPollEvery, as if futex_waitv were missing.
    explicit DoorbellWait(bool polls = !can_wait_for_many()) : polls_(polls) {}

    void clear() { words_.clear(); }
    [[nodiscard]] std::size_t size() const { return words_.size(); }
    /// With its present value, or with the value that was read before.
    void add(const std::atomic<std::uint32_t>& word);
    void add(const std::atomic<std::uint32_t>& word, std::uint32_t value) {
        words_.push_back({&word, value});
    }
    /// Returns at once if a word differs from the value it was added with. May return early. Returns the
    /// index of the word that was woken, in the order of add(); empty if none was, or it is unknown which.
    std::optional<std::size_t> until(Nanos deadline);

    /// Whether a word differs from the value it was added with.
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
