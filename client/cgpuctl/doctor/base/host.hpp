#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/run/files/root.hpp"

namespace cgpu::cgpuctl::doctor {

/// The files of this machine, below a root that tests exchange. Reads only.
class Host {
  public:
    /// Error: there is no such folder. `is_root`: of the user who reads.
    [[nodiscard]] static client::Result<Host> open(const std::string& root, bool is_root);

    struct Text {
        std::string text;
        int error = 0;  ///< an errno: why it can't be read; 0: it was
    };
    /// At most a megabyte of a regular file.
    [[nodiscard]] Text read(const std::string& path) const;
    [[nodiscard]] bool exists(const std::string& path) const;
    /// A regular file that may be executed.
    [[nodiscard]] bool executable(const std::string& path) const;
    /// The first of these paths that exists; empty: none.
    [[nodiscard]] std::string first_of(const std::vector<std::string>& paths) const;
    /// Whether a program of this name is in one of the usual folders.
    [[nodiscard]] bool has_program(const std::string& name) const;
    /// Sorted, without `.` and `..`; none if it can't be read.
    [[nodiscard]] std::vector<std::string> names_in(const std::string& folder) const;

    struct Process {
        std::uint32_t pid = 0;
        std::string name;  ///< at most 15 characters
    };
    /// All that /proc shows.
    [[nodiscard]] std::vector<Process> processes() const;

    [[nodiscard]] bool is_root() const { return is_root_; }
    [[nodiscard]] const client::Root& root() const { return root_; }
    /// The path as other code takes it, which knows nothing of another root.
    [[nodiscard]] std::string at(const std::string& path) const { return prefix_ + path; }

  private:
    Host(client::Root root, std::string prefix, bool is_root)
        : root_(std::move(root)), prefix_(std::move(prefix)), is_root_(is_root) {}
    client::Root root_;
    std::string prefix_;  ///< empty for "/"
    bool is_root_;
};

}  // namespace cgpu::cgpuctl::doctor
