#include "client/runtime/chain/calls.hpp"

#include <cstdlib>

namespace cgpu::runtime {
namespace {

constexpr const char* kMark = "CGPU_RUNTIME_EXECUTED";
constexpr const char* kNext = "next-runtime";
constexpr const char* kLowLevel = "low-level-runtime";

}  // namespace

Call call_of(std::string_view mark) {
    if (mark == kNext) return Call::by_next_runtime;
    if (mark == kLowLevel) return Call::by_low_level_runtime;
    return Call::first;
}

Call this_call() {
    const char* mark = std::getenv(kMark);
    return call_of(mark == nullptr ? "" : mark);
}

void expect_call(Call next) {
    if (next == Call::first)
        unsetenv(kMark);
    else
        setenv(kMark, next == Call::by_next_runtime ? kNext : kLowLevel, 1);
}

}  // namespace cgpu::runtime
