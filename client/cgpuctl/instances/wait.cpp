// wait: until instances have ended.
#include <algorithm>
#include <chrono>
#include <optional>

#include "client/cgpuctl/instances/meant.hpp"
#include "client/cgpuctl/instances/verbs.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/values.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::Instance;
using client::Result;
using Clock = std::chrono::steady_clock;
using Kind = client::ClientError::Kind;
using std::chrono::milliseconds;

/// A restarted daemon is back within this time, and knows which instances live.
constexpr std::chrono::seconds kRestartTakes{30};
/// The bus announces a daemon that comes back, but not one that merely continues.
constexpr milliseconds kLookMeanwhile{1000};

/// Whether the instance with this id is there. It doesn't read the node: others wait, too, and what an end
/// costs must not grow with the number of instances.
Result<bool> is_there(const std::string& id, client::Node& node) {
    const auto found = node.find_instance(id);
    if (found && *found == id) return true;
    if (!found && found.error().kind == Kind::not_found) return false;
    if (!found && found.error().kind != Kind::refused) return tl::unexpected(found.error());
    // Somebody has given another instance this id for a name.
    const auto snapshot = node.read();
    if (!snapshot) return tl::unexpected(snapshot.error());
    return std::ranges::count(snapshot->instances, id, &Instance::id) > 0;
}

/// Takes those that have ended out of the list.
Result<void> drop_ended(std::vector<Instance>& left, client::Node& node, Terminal& terminal) {
    for (auto each = left.begin(); each != left.end();) {
        const auto there = is_there(each->id, node);
        if (!there) return tl::unexpected(there.error());
        if (*there) {
            ++each;
            continue;
        }
        terminal.done(shown_name(each->name, each->id) + ": it has ended.");
        terminal.out().flush();
        each = left.erase(each);
    }
    return {};
}

tl::unexpected<client::ClientError> too_late(const std::vector<Instance>& left, const std::string& seconds) {
    std::string names;
    std::string words;
    for (const Instance& each : left) {
        names += (names.empty() ? "" : ", ") + shown_name(each.name, each.id);
        words += " " + word_for(each.name, each.id);
    }
    return client::fail(Kind::failed, names + ": not ended after " + seconds +
                                          " s; nothing was changed. Try: wait longer, or cgpuctl stop" +
                                          words + ".");
}

}  // namespace

Result<void> wait_verb(const WaitInput& input, client::Node& node, Terminal& terminal) {
    std::optional<Clock::time_point> give_up;
    if (!input.timeout.empty()) {
        const auto seconds = read_count("timeout", input.timeout);
        if (!seconds) return tl::unexpected(seconds.error());
        give_up = Clock::now() + std::chrono::seconds(*seconds);
    }
    // It watches first, so that no end is missed.
    const auto watch = node.watch_instances();
    if (!watch) return tl::unexpected(watch.error());
    const auto snapshot = node.read();
    if (!snapshot) return tl::unexpected(snapshot.error());
    auto left = instances_meant(*snapshot, input.instances, said_by(input), node);
    if (!left) return tl::unexpected(left.error());
    auto answered = Clock::now();
    for (;;) {
        const auto looked = drop_ended(*left, node, terminal);
        if (looked && left->empty()) return {};
        const auto now = Clock::now();
        if (looked)
            answered = now;
        else if (looked.error().kind != Kind::unreachable || now - answered >= kRestartTakes)
            return tl::unexpected(looked.error());
        if (give_up && now >= *give_up) return too_late(*left, input.timeout);
        std::optional<milliseconds> most;
        if (give_up) most = std::chrono::ceil<milliseconds>(*give_up - now);
        if (!looked) most = std::min(most.value_or(kLookMeanwhile), kLookMeanwhile);
        (*watch)->wait(-1, most);
    }
}

}  // namespace cgpu::cgpuctl
