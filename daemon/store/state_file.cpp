#include "daemon/store/state_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "daemon/app/ports/log.hpp"
#include "daemon/store/base/atomic_file.hpp"
#include "daemon/store/state_json.hpp"
#include "files/read.hpp"

namespace cgpu::store {
namespace {

using Reason = model::Refusal::Reason;

/// Far more than a node with all its instances needs.
constexpr std::size_t kLongestState = std::size_t{64} << 20;

/// With spaces before the last line break, so that the file's length seldom changes: the disk's journal is
/// written less then.
std::string padded(std::string text) {
    constexpr std::size_t kStep = 1024;
    const std::size_t size = (text.size() + kStep - 1) / kStep * kStep;
    text.insert(text.size() - 1, size - text.size(), ' ');
    return text;
}

}  // namespace

app::Result<void> StateFile::save(const model::Node& node) { return save(State{node, state_.record}); }

app::Result<void> StateFile::save(const upgrade::Record& record) { return save(State{state_.node, record}); }

app::Result<void> StateFile::save(State state) {
    const auto replaced = replace_file(path_, padded(write_state(state)));
    if (!replaced)
        return model::refuse(
            Reason::storage, "saving the state to " + path_.string(), replaced.error(),
            "free space in its folder and let the user of cgpud write there; nothing was changed");
    if (*replaced == Replaced::until_power_fails)
        log::warn(
            "the state is saved to {}, but its folder can't be synced ({}): a power failure may undo that",
            path_.string(), std::generic_category().message(errno));
    state_ = std::move(state);
    return {};
}

app::Result<std::optional<State>> StateFile::read() const {
    const std::string what = "state file " + path_.string();
    std::optional<std::string> before;
    for (;;) {
        auto content = files::read_whole(path_, kLongestState);
        if (!content)
            return model::refuse(
                Reason::storage, what, "it can't be read: " + content.error().why(),
                content.error().is_no_file()
                    ? "put the state file in its place, or remove it: without one cgpud begins anew"
                    : "let the user of cgpud read it");
        if (!*content) return std::nullopt;
        auto state = read_state(**content);
        if (state) return std::move(*state);
        // Another cgpud (of `cgpud --check`) may have been writing it.
        if (before == *content)
            return model::refuse(Reason::storage, what, state.error().why, state.error().remedy);
        before = std::move(*content);
    }
}

app::Result<State> StateFile::load() {
    remove_leftovers(path_);
    auto found = read();
    if (!found) return tl::unexpected(found.error());
    if (*found) return state_ = std::move(**found);
    std::error_code ignored;  // what can't be made is refused by the save
    std::filesystem::create_directory(path_.parent_path(), ignored);
    if (const auto saved = save(State{}); !saved) return tl::unexpected(saved.error());
    return state_;
}

app::Result<void> StateFile::check() const {
    const auto found = read();
    if (!found) return tl::unexpected(found.error());
    if (*found) return {};
    const auto folder = path_.parent_path();
    // A missing folder can be created, as systemd does for the service before it starts.
    const bool missing = ::access(folder.c_str(), F_OK) != 0 && errno == ENOENT;
    if (::access((missing ? folder.parent_path() : folder).c_str(), W_OK | X_OK) == 0) return {};
    return model::refuse(
        Reason::storage, "state_dir " + folder.string(),
        "there is no state in it, and none can be written: " + std::generic_category().message(errno),
        "make the folder, and let the user of cgpud write there");
}

}  // namespace cgpu::store
