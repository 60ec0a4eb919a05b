#include "daemon/store/state_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "daemon/store/atomic_file.hpp"
#include "daemon/store/state_json.hpp"

namespace cgpu::store {
namespace {

using Reason = model::Refusal::Reason;

/// The content of the file; nothing where there is none.
tl::expected<std::optional<std::string>, std::error_code> read_file(const std::filesystem::path& path) {
    const auto failure = [] { return tl::unexpected(std::error_code(errno, std::generic_category())); };
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) return std::nullopt;
    if (fd < 0) return failure();
    std::string content;
    std::array<char, 16384> buffer{};
    for (;;) {
        const ssize_t size = ::read(fd, buffer.data(), buffer.size());
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) {
            auto failed = failure();
            ::close(fd);
            return failed;
        }
        if (size == 0) break;
        content.append(buffer.data(), static_cast<std::size_t>(size));
    }
    ::close(fd);
    return content;
}

}  // namespace

app::Result<void> StateFile::save(const model::Node& node) { return save(State{node, state_.record}); }

app::Result<void> StateFile::save(const upgrade::Record& record) { return save(State{state_.node, record}); }

app::Result<void> StateFile::save(State state) {
    const auto replaced = replace_file(path_, write_state(state));
    if (!replaced)
        return model::refuse(
            Reason::storage, "saving the state to " + path_.string(), replaced.error(),
            "free space in its folder and let the user of cgpud write there; nothing was changed");
    state_ = std::move(state);
    return {};
}

app::Result<State> StateFile::load() {
    const std::string what = "state file " + path_.string();
    remove_leftovers(path_);
    const auto content = read_file(path_);
    if (!content)
        return model::refuse(Reason::storage, what, "it can't be read: " + content.error().message(),
                             "let the user of cgpud read it");
    if (!*content) return state_ = State{};
    auto state = read_state(**content);
    if (!state) return model::refuse(Reason::storage, what, state.error().why, state.error().remedy);
    return state_ = std::move(*state);
}

}  // namespace cgpu::store
