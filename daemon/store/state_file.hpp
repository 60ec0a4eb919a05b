#pragma once

#include <filesystem>

#include "daemon/app/ports/ports.hpp"
#include "daemon/app/ports/record_store.hpp"
#include "daemon/store/state.hpp"

namespace cgpu::store {

/// The state in `<state_dir>/state.json`: whichever part is saved, the other one is written as it was loaded
/// or saved last. One cgpud at a time.
class StateFile final : public app::Store, public app::RecordStore {
  public:
    explicit StateFile(const std::filesystem::path& state_dir) : path_(state_dir / "state.json") {}

    /// Replaces the file as a whole and returns once it is on disk. Refused (storage) with the system's
    /// words, the old file kept: the disk is full, the folder is missing or can't be written.
    app::Result<void> save(const model::Node& node) override;
    app::Result<void> save(const upgrade::Record& record) override;

    /// The state that was saved last; where there is no file, an empty one, which is saved: a folder that
    /// can't be written isn't one in which there is nothing. A folder that is missing is made, if its parent
    /// is there. Removes what a save that was interrupted has left. Refused (storage) where the file can't be
    /// read, is damaged (with the place), or was written by a newer cgpud (it is not touched then), or where
    /// the empty state can't be saved.
    [[nodiscard]] app::Result<State> load();
    /// Whether load() would be refused, by all that can be told without a change of anything.
    [[nodiscard]] app::Result<void> check() const;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  private:
    app::Result<void> save(State state);
    /// Nothing: there is no file.
    [[nodiscard]] app::Result<std::optional<State>> read() const;

    std::filesystem::path path_;
    State state_;  ///< as on disk
};

}  // namespace cgpu::store
