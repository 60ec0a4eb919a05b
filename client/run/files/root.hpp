#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "client/node/values/client_error.hpp"
#include "files/descriptor.hpp"

namespace cgpu::client {

/// A folder below which paths are looked up as if it were "/". Its content may come from an image, and so be
/// hostile: neither "..", nor a symbolic link, nor one of /proc's magic links leads out of it (openat2(2),
/// RESOLVE_IN_ROOT). A file that was found is therefore used by its descriptor and never looked up again from
/// outside.
class Root {
  public:
    /// Error (failed): there is no such folder.
    [[nodiscard]] static Result<Root> open(const std::string& folder);
    /// The root of a mount that may be attached nowhere, or where others can move it: paths are looked up in
    /// it from its descriptor alone. path_of() and inside() don't know it.
    [[nodiscard]] static Root of_mount(Descriptor mount) { return Root(std::move(mount), "/"); }

    /// `flags` as for open(2); O_CLOEXEC is added. Empty, with errno, if it can't be opened.
    [[nodiscard]] Descriptor find(const std::string& path, int flags) const;
    /// The same, but no part of the path may be a symbolic link (ELOOP). For a path that was resolved before:
    /// a user who may write to a folder of it can have put a link there since.
    [[nodiscard]] Descriptor find_real(const std::string& path, int flags) const;
    /// A regular file, for reading; empty if it is anything else.
    [[nodiscard]] Descriptor find_file(const std::string& path) const;
    /// The folder at `path`; it and the folders above it are created (0755) if they are missing.
    [[nodiscard]] Descriptor make_folder(const std::string& path) const;
    /// The file at `path`, created empty if it is missing.
    [[nodiscard]] Descriptor make_file(const std::string& path) const;

    /// The names in a folder, sorted; none if it can't be read.
    [[nodiscard]] std::vector<std::string> names_in(const std::string& folder) const;
    /// Those of them for which wanted(name) holds.
    [[nodiscard]] std::vector<std::string> names_in(
        const std::string& folder, const std::function<bool(std::string_view)>& wanted) const;
    /// A regular file's text, truncated at `limit` bytes; empty if it can't be read.
    [[nodiscard]] std::string text_of(const std::string& path, std::size_t limit) const;
    /// The path of an open file, links resolved, as seen from the root; empty if it is outside.
    [[nodiscard]] std::string path_of(const Descriptor& file) const;

    /// Whether it is this process's own root, as for a job of `cgpuctl run`; a container's is a folder.
    [[nodiscard]] bool is_own() const { return path_.empty(); }
    /// The folder itself.
    [[nodiscard]] const Descriptor& folder() const { return fd_; }
    /// A path of this process's root as seen from this one; empty if it is outside.
    [[nodiscard]] std::string inside(const std::string& path) const;

  private:
    [[nodiscard]] Descriptor look_up(const std::string& path, int flags, std::uint64_t resolve) const;
    Root(Descriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
    Descriptor fd_;
    std::string path_;  ///< links resolved; empty for "/"
};

/// /proc/self/fd/N: names an open file for calls that need a path.
[[nodiscard]] std::string by_descriptor(const Descriptor& file);

}  // namespace cgpu::client
