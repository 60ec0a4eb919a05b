#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "daemon/app/ports/ports.hpp"
#include "daemon/app/ports/record_store.hpp"
#include "daemon/store/state.hpp"
#include "daemon/store/state_json.hpp"

namespace cgpu::store {

/// The state in `<state_dir>/state.json`: saving one part writes the other part as it was loaded or saved
/// last. Only one cgpud uses it at a time.
///
/// The state before the last change is in the spare file beside it (replace_file). Where state.json is
/// damaged that one is taken, because a node whose jobs run must not be empty; what its last change was is
/// lost, and that is logged.
class StateFile final : public app::Store, public app::RecordStore {
  public:
    explicit StateFile(const std::filesystem::path& state_dir) : path_(state_dir / "state.json") {}

    /// Replaces the file as a whole and returns once it is on disk. Refused (storage) with the system's
    /// reason, and the old file is kept: the disk is full, the folder is missing or can't be written.
    app::Result<void> save(const model::Node& node) override;
    app::Result<void> save(const upgrade::Record& record) override;

    /// The state that was saved last. If there is no file, an empty state is saved, which shows that the
    /// folder can be written; a former state that is there becomes `state.json.former`, and that is logged. A
    /// missing folder is created if its parent exists. Removes leftovers of an interrupted save. A damaged
    /// file becomes `state.json.damaged` if the former state can be read, and that one takes its place.
    /// Refused (storage) if the file can't be read, is damaged (with the place) like the former one, or was
    /// written by a newer cgpud (it is not changed then), or if the empty state can't be saved.
    [[nodiscard]] app::Result<State> load();
    /// Whether load() would be refused, as far as that can be found out without changing anything. Logs if it
    /// would take the former state.
    [[nodiscard]] app::Result<void> check() const;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  private:
    struct Found {
        State state;
        std::string damage;  ///< of state.json, if this is the former state
    };

    app::Result<void> save(State state);
    void keep_former() const;
    /// Empty: there is no file.
    [[nodiscard]] app::Result<std::optional<Found>> read() const;

    std::filesystem::path path_;
    State state_;  ///< as on disk
    StateText text_;
};

}  // namespace cgpu::store
