#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "core/model/refusal.hpp"
#include "files/descriptor.hpp"

namespace cgpu::bundle {

/// The remedy if a file of a bundle was changed.
constexpr const char* kGetAgain = "get this version again from where it was released";

/// A file or folder that only root can have changed, open, with the path by which messages name it. All
/// operations use the open file: a name may refer to another file later, the open file is the one that was
/// checked.
class RootOwnedFile {
  public:
    /// The folder at an absolute `path`, if it and every folder above it belong to root and can't be written
    /// by others; none of them may be a symbolic link. Folders above it may be writable with the sticky bit,
    /// as /tmp is: only root can exchange root's files in those. Refused: not_found, not_permitted (another
    /// user could have written it), storage (it can't be read).
    [[nodiscard]] static tl::expected<RootOwnedFile, model::Refusal> open_folder(const std::string& path);
    /// The same for a regular file.
    [[nodiscard]] static tl::expected<RootOwnedFile, model::Refusal> open_file(const std::string& path);
    /// A regular file in this folder, by its name; refused as above.
    [[nodiscard]] tl::expected<RootOwnedFile, model::Refusal> file_in(const std::string& name) const;

    /// The whole content. Refused: invalid (it is empty, or larger than `most` bytes), storage.
    [[nodiscard]] tl::expected<std::vector<std::byte>, model::Refusal> content(std::uint64_t most) const;
    /// The names in this folder, sorted. Refused: storage.
    [[nodiscard]] tl::expected<std::vector<std::string>, model::Refusal> names() const;
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] int descriptor() const { return fd_.fd(); }

  private:
    RootOwnedFile(Descriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
    [[nodiscard]] tl::expected<RootOwnedFile, model::Refusal> step(const std::string& name, int flags,
                                                                   const char* where_it_is) const;
    [[nodiscard]] std::optional<model::Refusal> why_not_roots(mode_t kind, bool above) const;
    [[nodiscard]] static tl::expected<RootOwnedFile, model::Refusal> walk(const std::string& path,
                                                                          mode_t kind);

    Descriptor fd_;
    std::string path_;
};

}  // namespace cgpu::bundle
