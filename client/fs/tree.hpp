#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "client/fs/control_files.hpp"
#include "client/node/values/snapshot.hpp"

namespace cgpu::fs {

/// What a path of the tree names. The pointers are into the snapshot that it was found in.
struct Place {
    const client::Gpu* gpu = nullptr;            ///< null: at the top
    const client::Instance* instance = nullptr;  ///< null: at the top, or in a GPU's own folder
    const ControlFile* file = nullptr;           ///< null: a folder

    [[nodiscard]] Level level() const {
        return gpu == nullptr ? Level::node : instance == nullptr ? Level::gpu : Level::instance;
    }
};

/// `/`, `/0/policy`, `/0/012b2edccd7a/weight`: a GPU by its index, an instance by its id or a beginning of it
/// that no other has, of 12 characters at least. Error: an errno, ENOENT or ENOTDIR.
[[nodiscard]] tl::expected<Place, int> find_place(const client::Snapshot& node, std::string_view path);

/// The names in a folder: the GPUs that are present, the instances on a GPU by the first 12 characters of
/// their ids (the whole id if those are another's, too), and the files.
[[nodiscard]] std::vector<std::string> names_in(const client::Snapshot& node, const Place& folder);

/// What reading a file gives; it ends with a newline. `major`: the number of the tree's own device. Error: an
/// errno, EBADF for a file that can only be written.
[[nodiscard]] tl::expected<std::string, int> text_of(const client::Snapshot& node, const Place& place,
                                                     unsigned major);

}  // namespace cgpu::fs
