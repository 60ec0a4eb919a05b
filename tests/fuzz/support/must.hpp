#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

/// How a target says that something does not hold: libFuzzer takes an abort for a finding and keeps the
/// input.
namespace cgpu::fuzz {

inline void must(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "does not hold: %s\n", what);
    std::abort();
}

/// One line of printable ASCII, as it may go to a terminal, a log and the bus.
inline void must_be_a_line(std::string_view text, const char* what) {
    for (const char c : text) must(c >= 0x20 && c < 0x7f, what);
}

/// A refusal's text: `what: why. Try: remedy.`
inline void must_be_a_refusal(const std::string& text) {
    must_be_a_line(text, "a refusal is one line of printable ASCII");
    must(text.find(": ") != std::string::npos && text.find(". Try: ") != std::string::npos,
         "a refusal says what, why and what to try");
    must(text.size() < 4000, "a refusal has an end");
}

}  // namespace cgpu::fuzz
