#pragma once

#include <string>

namespace cgpu::cgpuctl::top {

/// A key that the user has pressed.
struct Key {
    enum class Kind { text, enter, escape, backspace, up, down, page_up, page_down, first, last, other };
    Kind kind = Kind::other;
    std::string text = {};  ///< of Kind::text: one code point in UTF-8

    [[nodiscard]] bool is(const char* wanted) const { return kind == Kind::text && text == wanted; }
    friend bool operator==(const Key&, const Key&) = default;
};

}  // namespace cgpu::cgpuctl::top
