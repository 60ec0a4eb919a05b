#pragma once

#include <filesystem>

#include "daemon/app/ports/ports.hpp"
#include "daemon/app/ports/record_store.hpp"
#include "daemon/store/state.hpp"

namespace cgpu::store {

/// The state in `<state_dir>/state.json`: saving one part writes the other part as it was loaded or saved
/// last. Only one cgpud uses it at a time.
class StateFile final : public app::Store, public app::RecordStore {
  public:
    explicit StateFile(const std::filesystem::path& state_dir) : path_(state_dir / "state.json") {}

    /// Replaces the file as a whole and returns once it is on disk. Refused (storage) with the system's
    /// reason, and the old file is kept: the disk is full, the folder is missing or can't be written.
    app::Result<void> save(const model::Node& node) override;
    app::Result<void> save(const upgrade::Record& record) override;

    /// The state that was saved last. If there is no file, an empty state is saved, which shows that the
    /// folder can be written. A missing folder is created if its parent exists. Removes leftovers of an
    /// interrupted save. Refused (storage) if the file can't be read, is damaged (with the place), or was
    /// written by a newer cgpud (it is not changed then), or if the empty state can't be saved.
    [[nodiscard]] app::Result<State> load();
    /// Whether load() would be refused, as far as that can be found out without changing anything.
    [[nodiscard]] app::Result<void> check() const;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  private:
    app::Result<void> save(State state);
    /// Empty: there is no file.
    [[nodiscard]] app::Result<std::optional<State>> read() const;

    std::filesystem::path path_;
    State state_;  ///< as on disk
};

}  // namespace cgpu::store
