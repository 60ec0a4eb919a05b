#include "client/cgpuctl/instances/withdraw.hpp"

#include <algorithm>
#include <optional>

#include "client/cgpuctl/output/format.hpp"
#include "core/model/instance_word.hpp"
#include "core/model/quote.hpp"

namespace cgpu::cgpuctl {

namespace {

/// What has no process to end, and what becomes of it.
struct Withdrawn {
    std::string id;
    std::string name;
    const char* sentence;
    const char* would;
};

/// Error (usage): an instance and a request that waits are meant.
client::Result<std::optional<Withdrawn>> withdrawn_by(const client::Snapshot& snapshot,
                                                      const std::string& word, const Saying& saying) {
    std::vector<model::Named> all;
    for (const auto& each : snapshot.instances) all.push_back({each.id, each.name, each.owner});
    for (const auto& each : snapshot.queue) all.push_back({each.id, each.name, each.owner});
    const auto meant = model::meant_by(word, all, saying.user);
    const auto first_queued = snapshot.instances.size();
    const bool some_wait = std::ranges::any_of(meant, [&](auto each) { return each >= first_queued; });
    if (meant.size() > 1 && some_wait) {
        std::string ids;
        for (const auto each : meant)
            ids += (ids.empty() ? "" : ", ") + short_id(std::string(all[each].id)) +
                   (each < first_queued ? "" : " (queued)");
        return client::fail(client::ClientError::Kind::usage,
                            "instance " + model::quote(word) + ": several are meant by it: " + ids +
                                ". Try: name one by these characters of its id.");
    }
    if (meant.size() != 1) return std::nullopt;
    const auto& one = all[meant.front()];
    if (saying.user && model::only_resembles(word, one, saying.user)) return std::nullopt;
    if (some_wait)
        return Withdrawn{std::string(one.id), std::string(one.name), "taken out of the queue",
                         "taken out of the queue"};
    if (snapshot.instances[meant.front()].state != "reserved") return std::nullopt;
    return Withdrawn{std::string(one.id), std::string(one.name), "the reservation is given back",
                     "given back"};
}

}  // namespace

client::Result<std::vector<std::string>> withdraw(const client::Snapshot& snapshot, const StopInput& input,
                                                  client::Node& node, Terminal& terminal) {
    const auto saying = said_to_change(input);
    std::vector<std::string> others;
    for (const std::string& word : input.instances) {
        const auto meant = withdrawn_by(snapshot, word, saying);
        if (!meant) return tl::unexpected(meant.error());
        if (!*meant) {
            others.push_back(word);
            continue;
        }
        const auto title = shown_name((*meant)->name, (*meant)->id);
        if (input.dry_run) {
            terminal.done(title + ": it would be " + (*meant)->would + "; nothing was changed.");
            continue;
        }
        if (auto released = node.release_instance((*meant)->id); !released)
            return tl::unexpected(released.error());
        terminal.done(title + ": " + (*meant)->sentence + ".");
    }
    return others;
}

}  // namespace cgpu::cgpuctl
