#include "client/cgpuctl/instances/withdraw.hpp"

#include <optional>

#include "client/cgpuctl/output/format.hpp"
#include "core/model/instance_word.hpp"

namespace cgpu::cgpuctl {

namespace {

/// What has no process to end, and what becomes of it.
struct Withdrawn {
    std::string id;
    std::string name;
    const char* sentence;
    const char* would;
};

std::optional<Withdrawn> withdrawn_by(const client::Snapshot& snapshot, const std::string& word,
                                      const Saying& saying) {
    if (const auto* queued = queued_alone(snapshot, word, saying))
        return Withdrawn{queued->id, queued->name, "taken out of the queue", "taken out of the queue"};
    const auto* its = find_instance_meant(snapshot, word, saying);
    if (its == nullptr || its->state != "reserved") return std::nullopt;
    if (saying.user && model::only_resembles(word, {its->id, its->name, its->owner}, saying.user))
        return std::nullopt;
    return Withdrawn{its->id, its->name, "the reservation is given back", "given back"};
}

}  // namespace

client::Result<std::vector<std::string>> withdraw(const client::Snapshot& snapshot, const Input& input,
                                                  client::Node& node, Terminal& terminal) {
    const auto saying = said_to_change(input);
    std::vector<std::string> others;
    for (const std::string& word : input.instances) {
        const auto meant = withdrawn_by(snapshot, word, saying);
        if (!meant) {
            others.push_back(word);
            continue;
        }
        const auto title = shown_name(meant->name, meant->id);
        if (input.dry_run) {
            terminal.done(title + ": it would be " + meant->would + "; nothing was changed.");
            continue;
        }
        if (auto released = node.release_instance(meant->id); !released)
            return tl::unexpected(released.error());
        terminal.done(title + ": " + meant->sentence + ".");
    }
    return others;
}

}  // namespace cgpu::cgpuctl
