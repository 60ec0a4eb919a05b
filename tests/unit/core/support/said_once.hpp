#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <regex>
#include <string>
#include <vector>

/// Faults of style that a message's parts don't show alone: what is put together says a thing twice, or
/// writes amounts of memory in two ways.
namespace cgpu::test {

/// The parts of a message between colons, commas, semicolons, dots and brackets; `Try` is not one of them.
/// Text in quotes is somebody's value, and is replaced by `"`.
inline std::vector<std::string> clauses_of(const std::string& message) {
    static const std::regex quoted(R"("(?:[^"\\]|\\.)*")");
    static const std::regex between(R"((?:[:;,.]| \(|\))(?: |$)| \()");
    const std::string text = std::regex_replace(message, quoted, "\"");
    std::vector<std::string> clauses;
    for (std::sregex_token_iterator it(text.begin(), text.end(), between, -1), end; it != end; ++it)
        if (!it->str().empty() && it->str() != "Try") clauses.push_back(it->str());
    return clauses;
}

/// Whether `longer` begins with `word`, as `policy "x"` does with `policy`.
inline bool begins_with_word(const std::string& longer, const std::string& word) {
    return longer.starts_with(word) && (longer.size() == word.size() ||
                                        std::isalnum(static_cast<unsigned char>(longer[word.size()])) == 0);
}

/// What the message says twice: a clause of several words, or a subject that is named again in the next
/// clause (`policy "x": policy: …`). Empty: nothing.
inline std::string said_twice(const std::string& message) {
    const auto clauses = clauses_of(message);
    for (std::size_t i = 0; i < clauses.size(); ++i)
        for (std::size_t j = i + 1; j < clauses.size(); ++j) {
            const bool sentence = clauses[i].find(' ') != std::string::npos;
            if (sentence && clauses[i] == clauses[j]) return clauses[i];
            if (j == i + 1 && begins_with_word(clauses[i], clauses[j])) return clauses[j];
        }
    return {};
}

/// One remedy, nothing said twice, and amounts of memory as `4GiB` or `512MiB`, which cgpu also reads.
inline void expect_said_once(const std::string& message) {
    static const std::regex other_amount(R"([0-9](?: [KMGT]iB| ?[KMGT]B| ?[kKMGT]ibibytes?)(?![A-Za-z]))");
    const auto remedy = message.find("Try: ");
    EXPECT_EQ(remedy, message.rfind("Try: ")) << "several remedies: " << message;
    EXPECT_EQ(said_twice(message), "") << message;
    // What others wrote is repeated as it was.
    static const std::regex quoted(R"("(?:[^"\\]|\\.)*")");
    EXPECT_FALSE(std::regex_search(std::regex_replace(message, quoted, "\""), other_amount))
        << "amounts are written as 4GiB: " << message;
}

}  // namespace cgpu::test
