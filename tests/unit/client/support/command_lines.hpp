#pragma once

#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "client/cgpuctl/base/command_line.hpp"

/// What is read of command lines; a test fails if it is something else.
namespace cgpu::cgpuctl {

using Words = std::vector<std::string>;

/// The words of a plain command line.
inline Words words_of(std::string_view line) {
    std::istringstream stream{std::string(line)};
    return {std::istream_iterator<std::string>(stream), {}};
}

inline Words with(Words words, const std::string& another) {
    words.push_back(another);
    return words;
}

inline Call call_of(const Words& words) {
    auto read = read_command_line(words);
    if (!read) {
        ADD_FAILURE() << read.error().text;
        return {&verbs().front(), std::make_unique<Input>(), {}};
    }
    return std::move(std::get<Call>(*read));
}

template <class Own>
const Own& input_of(const Call& call) {
    return dynamic_cast<const Own&>(*call.input);
}

inline std::string text_of(const Words& words) {
    const auto read = read_command_line(words);
    if (!read || !std::holds_alternative<Print>(*read)) {
        ADD_FAILURE() << "nothing to print";
        return "";
    }
    return std::get<Print>(*read).text;
}

inline std::string usage_error(const Words& words) {
    const auto read = read_command_line(words);
    if (read) {
        ADD_FAILURE() << "no error";
        return "";
    }
    EXPECT_EQ(read.error().kind, ClientError::Kind::usage);
    EXPECT_NE(read.error().text.find(". Try: "), std::string::npos) << read.error().text;
    return read.error().text;
}

}  // namespace cgpu::cgpuctl
