#pragma once

#include <atomic>
#include <cstdint>

#include "module/engine/abi/api.hpp"

namespace cgpu::front {

/// An engine with its code.
struct Running {
    void* library = nullptr;  ///< of dlopen
    const module::EngineTable* table = nullptr;
    module::Engine* engine = nullptr;
};

class FunctionCosts;

namespace detail {

/// Nesting depth of the thread's engine sections × 2, plus 1 while the thread is entering. The thread that
/// exchanges engines reads it. Sections nest because a signal handler may launch while its thread is inside:
/// if the handler's end cleared the mark, an exchange could unload the engine below the interrupted code.
/// Nesting costs nothing that bench/launch can show.
using Mark = std::atomic<std::uint32_t>;

/// What the front keeps for a thread. When the thread ends, the next thread takes it over.
struct alignas(64) Slot {
    Mark mark{0};
    std::atomic<std::uint64_t> batch{0};  ///< the one that the thread is launching into (Launching)
    FunctionCosts* costs = nullptr;       ///< of what the thread launches (ThreadGrant); null: not made yet
    std::atomic<bool> taken{true};
    Slot* next = nullptr;
};

struct Thread {
    Mark* mark = nullptr;  ///< of its slot; null: it has none (yet)
    Slot* slot = nullptr;
    std::uint32_t unlisted = 0;  ///< the same as its mark would be, where it has none
    bool ended = false;          ///< its slot has been given back for good
};

extern thread_local constinit Thread this_thread __attribute__((tls_model("initial-exec")));

}  // namespace detail

/// Tracks which threads are inside the engine. A section costs its thread two stores to a cache line of its
/// own and a load, without a locked instruction: the thread that exchanges engines makes up for that with
/// membarrier(2). If the kernel refuses that call, as the seccomp profiles of old container runtimes do, each
/// entry is a locked exchange instead.
///
/// Within a section no thread waits or calls the driver. A signal handler's section may be nested in one of
/// the thread that it interrupted.
class Sections {
  public:
    constexpr Sections() = default;
    Sections(const Sections&) = delete;
    Sections& operator=(const Sections&) = delete;

    /// Sets the engine for sections from now on; no thread is inside or waits.
    void begin(const Running& first);

    // For the thread that exchanges the engine.
    /// Keeps all threads out and waits until none is inside. False: one still was at `until_ns`, or the
    /// kernel refuses its help; then nothing has changed. Threads that are kept out wait.
    bool close(std::int64_t until_ns);
    /// Lets all threads in again: to this engine.
    void open(const Running& running);

    /// Whether membarrier replaces locked instructions in threads' marks.
    bool expedited() const { return expedited_.load(std::memory_order_relaxed); }
    /// Whether a thread's slot names this batch. `plainly`: slots may have been written by plain stores,
    /// which membarrier makes up for; then it also returns true if the kernel refuses its help.
    bool anybody_launches(std::uint64_t batch, bool plainly);

    /// The forked child's one thread is in no section, and no engine is in force.
    void reset_in_child();

  private:
    friend class Section;

    const Running* enter(detail::Mark* mark, std::uint32_t before) {
        if (expedited()) {
            mark->store(before + 1, std::memory_order_relaxed);
            std::atomic_signal_fence(std::memory_order_seq_cst);
        } else {
            mark->exchange(before + 1);
        }
        const Running* running = current_.load();
        if (running == nullptr) [[unlikely]]
            running = enter_late(mark, before);
        mark->store(before + 2, std::memory_order_relaxed);
        return running;
    }
    const Running* enter_late(detail::Mark* mark, std::uint32_t before);
    const Running* enter_unlisted();
    void leave_unlisted();
    detail::Mark* mark_of_thread();
    detail::Slot* take_slot();
    void wait_for_opening();
    bool wait_until_empty(std::int64_t until_ns) const;
    bool barrier();

    std::atomic<const Running*> current_{nullptr};  ///< null: all are kept out, or nothing was ever in force
    std::atomic<bool> expedited_{false};            ///< membarrier stands in for locked entries
    std::atomic<const Running*> in_force_{nullptr};
    std::atomic<std::uint32_t> closed_{0};       ///< 1 while all are kept out; the futex of those who wait
    std::atomic<detail::Slot*> slots_{nullptr};  ///< they stay, and are used again
    std::atomic<std::int32_t> unlisted_{0};      ///< sections of threads without a slot
};

namespace detail {
inline constinit Sections the_sections;
}

inline Sections& sections() { return detail::the_sections; }

/// While this object lives, the engine in force stays. Null inside if there is none.
class Section {
  public:
    Section() : mark_(detail::this_thread.mark) {
        if (mark_ == nullptr) [[unlikely]]
            mark_ = sections().mark_of_thread();
        if (mark_ == nullptr) [[unlikely]] {
            running_ = sections().enter_unlisted();
            return;
        }
        before_ = mark_->load(std::memory_order_relaxed);
        running_ = sections().enter(mark_, before_);
    }
    ~Section() {
        if (mark_ != nullptr) [[likely]] {
            mark_->store(before_, std::memory_order_release);
        } else {
            sections().leave_unlisted();
        }
    }
    Section(const Section&) = delete;
    Section& operator=(const Section&) = delete;

    const Running* running() const { return running_; }

  private:
    detail::Mark* mark_;
    std::uint32_t before_ = 0;
    const Running* running_ = nullptr;
};

}  // namespace cgpu::front
