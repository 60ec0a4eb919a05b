#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/node/client_error.hpp"
#include "client/run/files/descriptor.hpp"

namespace cgpu::client {

/// A folder below which paths are looked up as if it were "/". Its content may be an image's, and so hostile:
/// neither "..", nor a symbolic link, nor one of /proc's magic links leads out of it (openat2(2),
/// RESOLVE_IN_ROOT). What is found is therefore used by its descriptor and never looked up again from
/// outside.
class Root {
  public:
    /// Error (failed): there is no such folder.
    [[nodiscard]] static Result<Root> open(const std::string& folder);

    /// `flags` as for open(2); O_CLOEXEC is added. None with errno where it can't be opened.
    [[nodiscard]] Descriptor find(const std::string& path, int flags) const;
    /// The same, where no part of the path may be a symbolic link (ELOOP). For a path that was resolved
    /// before: whoever may write to a folder of it can have put a link there since.
    [[nodiscard]] Descriptor find_real(const std::string& path, int flags) const;
    /// A regular file, for reading; none where it is something else.
    [[nodiscard]] Descriptor find_file(const std::string& path) const;
    /// The folder at `path`, made (0755) where it is missing, and the folders above it.
    [[nodiscard]] Descriptor make_folder(const std::string& path) const;
    /// An empty file at `path`, or what is there.
    [[nodiscard]] Descriptor make_file(const std::string& path) const;

    /// The names in a folder, sorted; none where it can't be read.
    [[nodiscard]] std::vector<std::string> names_in(const std::string& folder) const;
    /// A regular file's text, cut off at `limit` bytes; empty where it can't be read.
    [[nodiscard]] std::string text_of(const std::string& path, std::size_t limit) const;
    /// Where an open file lies, links resolved, as seen from the root; empty where it lies outside.
    [[nodiscard]] std::string path_of(const Descriptor& file) const;

    /// A path of this process's root as seen from this one; empty where it lies outside.
    [[nodiscard]] std::string inside(const std::string& path) const;

  private:
    [[nodiscard]] Descriptor look_up(const std::string& path, int flags, std::uint64_t resolve) const;
    Root(Descriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
    Descriptor fd_;
    std::string path_;  ///< links resolved; empty for "/"
};

/// /proc/self/fd/N: names an open file to calls that want a path.
[[nodiscard]] std::string by_descriptor(const Descriptor& file);

}  // namespace cgpu::client
