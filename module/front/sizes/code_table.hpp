#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "module/front/base/waiting.hpp"

namespace cgpu::front {

/// The modules and libraries of the process, and the memory that they take when they are loaded. With lazy
/// loading (the driver's default since CUDA 12.2) that is not when the program loads them but when it first
/// uses them. Handles are the driver's, as numbers.
class CodeTable {
  public:
    constexpr CodeTable() = default;

    /// `loaded`: the key of the context into which it is loaded already; 0: none yet.
    void add(std::uint64_t code, std::uint64_t bytes, std::uint64_t loaded);
    /// What the handle of a part stands for: a CUfunction, a CUkernel, or something else (a module of a
    /// library).
    enum class Part : std::uint8_t { other, function, kernel };
    /// Adds a function of the code, or its module in a context.
    void add_part(std::uint64_t part, std::uint64_t code, Part kind);
    /// `other` for what was never added.
    Part part(std::uint64_t handle);
    /// The code's bytes, if it (or the owner of `handle`) is not loaded into that context yet; else 0.
    std::uint64_t bytes_to_load(std::uint64_t handle, std::uint64_t context);
    void loaded(std::uint64_t handle, std::uint64_t context);
    /// Whether a function or kernel that was added is used for the first time in this context: then the
    /// driver loads it, if it loads functions one by one. From now on it has been used.
    bool first_use(std::uint64_t handle, std::uint64_t context);
    /// Removes the code with all its parts. Returns its bytes if it was loaded anywhere, else 0.
    std::uint64_t remove(std::uint64_t code);

    /// Identifies a function in a context; never 0.
    static std::uint64_t mark(std::uint64_t function, std::uint64_t context) {
        return mark_salted(function, salt(context));
    }
    /// The same in two steps, for several functions of one context.
    static std::uint64_t salt(std::uint64_t context) { return context * kOdd; }
    static std::uint64_t mark_salted(std::uint64_t function, std::uint64_t salt) {
        return (function ^ salt) * kOdd | 1;
    }
    /// Whether this is (or may be) the first time for a function in a context. Costs a load and a comparison.
    bool first_time(std::uint64_t function, std::uint64_t context);
    /// Whether a function (its mark) certainly isn't new; changes nothing.
    [[gnu::always_inline]] bool was_met(std::uint64_t mark) const {
        return met_[place_in_met(mark)].load(std::memory_order_relaxed) == mark;
    }
    /// The launch failed: the next time counts as the first.
    void not_yet(std::uint64_t function, std::uint64_t context);

    void reset_in_child();

  private:
    struct Entry {
        std::uint64_t handle;
        std::uint64_t owner;   ///< of a part: the code it belongs to; else 0
        std::uint64_t bytes;   ///< of code
        std::uint64_t loaded;  ///< the context it was last loaded into, or, of a part, used in; 0: none
        Part kind;             ///< of a part
        Entry* next;
    };

    static constexpr std::size_t kBuckets = 1024;
    static constexpr std::size_t kMet = 4096;
    /// 2^64 over the golden ratio: spreads addresses.
    static constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
    static std::size_t place_in_met(std::uint64_t mark) { return mark >> 32 & (kMet - 1); }
    Entry** place_of(std::uint64_t handle);
    Entry* find_code(std::uint64_t handle);
    void put(const Entry& entry);

    Mutex mutex_;
    std::array<Entry*, kBuckets> buckets_{};
    std::array<std::atomic<std::uint64_t>, kMet> met_{};
};

namespace detail {
inline constinit CodeTable the_code_table;
}

inline CodeTable& code_table() { return detail::the_code_table; }

}  // namespace cgpu::front
