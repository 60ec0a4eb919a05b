#pragma once

#include <filesystem>

#include "daemon/app/ports.hpp"

namespace cgpu::store {

/// The node's state in `<state_dir>/state.json`. One cgpud at a time.
class StateFile final : public app::Store {
  public:
    explicit StateFile(const std::filesystem::path& state_dir) : path_(state_dir / "state.json") {}

    /// Replaces the file as a whole and returns once it is on disk. Refused (storage) with the system's
    /// words, the old file kept: the disk is full, the folder is missing or can't be written.
    app::Result<void> save(const model::Node& node) override;

    /// The state that was saved last; an empty one where there is no file. Removes what a save that was
    /// interrupted has left. Refused (storage) where the file can't be read, is damaged (with the place), or
    /// was written by a newer cgpud; the file is not touched.
    [[nodiscard]] app::Result<model::Node> load() const;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace cgpu::store
