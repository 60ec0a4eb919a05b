#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

/// A thread's current contexts. They need no destruction when a thread ends: registering one with the C
/// library waits for the loader's lock.
template <class Context>
struct ContextStack {
    std::array<Context*, 16> contexts;
    std::size_t count;

    bool empty() const { return count == 0; }
    Context* back() const { return contexts[count - 1]; }
    void push_back(Context* context) { contexts.at(count++) = context; }
    void pop_back() { --count; }
    void erase(const Context* context) {
        const auto end = contexts.begin() + static_cast<std::ptrdiff_t>(count);
        count = static_cast<std::size_t>(std::remove(contexts.begin(), end, context) - contexts.begin());
    }
};
