#pragma once

#include <string>

namespace cgpu::cgpuctl {

/// A word that a shell may put at the cursor.
struct Candidate {
    std::string word;
    std::string about;  ///< a few words; may be empty

    friend bool operator==(const Candidate&, const Candidate&) = default;
};

/// Instead of candidates: the shell completes by itself.
constexpr const char* kFiles = ":files";
constexpr const char* kCommand = ":command";  ///< another program and its arguments, which begin after `--`

}  // namespace cgpu::cgpuctl
