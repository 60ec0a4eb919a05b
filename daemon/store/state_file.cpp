#include "daemon/store/state_file.hpp"

#include <fcntl.h>
#include <stdio.h>
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

struct Unread {
    model::Refusal refusal;
    bool damaged;  ///< another copy may be whole
};

/// Empty: there is no file.
tl::expected<std::optional<State>, Unread> read_file(const std::filesystem::path& path) {
    const std::string what = "state file " + path.string();
    const auto unread = [&](const std::string& why, const std::string& remedy, bool damaged) {
        return tl::unexpected(Unread{model::refuse(Reason::storage, what, why, remedy).value(), damaged});
    };
    std::optional<std::string> before;
    for (;;) {
        auto content = files::read_whole(path, kLongestState);
        if (!content)
            return unread("it can't be read: " + content.error().why(),
                          content.error().is_no_file()
                              ? "put the state file in its place, or remove it: without one cgpud begins anew"
                              : "let the user of cgpud read it",
                          content.error().error == EFBIG);
        if (!*content) return std::nullopt;
        auto state = read_state(**content);
        if (state) return std::move(*state);
        // Another cgpud (of `cgpud --check`) may have been writing it.
        if (before == *content)
            return unread(state.error().why, state.error().remedy,
                          state.error().kind == Unreadable::Kind::damaged);
        before = std::move(*content);
    }
}

}  // namespace

app::Result<void> StateFile::save(const model::Node& node) { return save(State{node, state_.record}); }

app::Result<void> StateFile::save(const upgrade::Record& record) { return save(State{state_.node, record}); }

app::Result<void> StateFile::save(State state) {
    auto text = padded(text_.of(state));
    const auto replaced = replace_file(path_, text);
    text_.reuse(std::move(text));
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

app::Result<std::optional<StateFile::Found>> StateFile::read() const {
    const auto newest = read_file(path_);
    if (newest) return *newest ? std::optional(Found{**newest, {}}) : std::nullopt;
    if (!newest.error().damaged) return tl::unexpected(newest.error().refusal);
    const auto former = read_file(spare_of(path_));
    if (!former || !*former) return tl::unexpected(newest.error().refusal);
    return Found{**former, newest.error().refusal.text};
}

app::Result<State> StateFile::load() {
    remove_leftovers(path_);
    std::error_code unknown;
    if (const auto spare = std::filesystem::symlink_status(spare_of(path_), unknown);
        std::filesystem::exists(spare) && !std::filesystem::is_regular_file(spare))
        log::warn(
            "{} is no file, so no former state is kept for the case that {} is damaged. Try: remove it.",
            spare_of(path_).string(), path_.string());
    auto found = read();
    if (!found) return tl::unexpected(found.error());
    if (*found && !(*found)->damage.empty()) {
        const auto aside = path_.string() + ".damaged";
        const bool moved = take_back_spare(path_, aside);
        log::error("{} The state before its last change, which is lost, is in force. The damaged file {}.",
                   (*found)->damage, moved ? "is " + aside + " now" : "could not be moved away");
    }
    if (*found) return state_ = std::move((*found)->state);
    keep_former();
    std::error_code ignored;  // what can't be made is refused by the save
    std::filesystem::create_directory(path_.parent_path(), ignored);
    if (const auto saved = save(State{}); !saved) return tl::unexpected(saved.error());
    return state_;
}

/// The state file is missing. What is kept of it is out of the way of the next save, unless an earlier one
/// is.
void StateFile::keep_former() const {
    const auto spare = read_file(spare_of(path_));
    const auto former = path_.string() + ".former";
    if (!spare)
        return log::error(
            "state file {}: it is not there, so settings are those of the configuration, and the copy of the "
            "state before can't be used. {}",
            path_.string(), spare.error().refusal.text);
    if (!*spare ||
        ::renameat2(AT_FDCWD, spare_of(path_).c_str(), AT_FDCWD, former.c_str(), RENAME_NOREPLACE) != 0)
        return;
    log::warn(
        "state file {}: it is not there, so settings are those of the configuration. The state before its "
        "last change is {} now. Try: if the file was lost, stop cgpud, and move that one in its place.",
        path_.string(), former);
}

app::Result<void> StateFile::check() const {
    const auto found = read();
    if (!found) return tl::unexpected(found.error());
    if (*found && !(*found)->damage.empty())
        log::warn("{} A start takes the state before its last change, which is lost.", (*found)->damage);
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
