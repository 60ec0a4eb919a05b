#include "client/cgpuctl/base/instance_meant.hpp"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/people.hpp"
#include "core/model/instance_word.hpp"
#include "core/model/quote.hpp"

namespace cgpu::cgpuctl {
namespace {

model::Named named(const client::Instance& instance) { return {instance.id, instance.name, instance.owner}; }

}  // namespace

Saying said_by(const Input& input) {
    return {input.host.empty() ? std::optional<std::uint32_t>(geteuid()) : std::nullopt};
}

Saying said_to_change(const Input& input) {
    auto saying = said_by(input);
    saying.to_change = true;
    return saying;
}

const client::Instance* find_instance_meant(const client::Snapshot& snapshot, const std::string& word,
                                            const Saying& saying) {
    std::vector<model::Named> all;
    all.reserve(snapshot.instances.size());
    for (const client::Instance& each : snapshot.instances) all.push_back(named(each));
    const auto meant = model::meant_by(word, all, saying.user);
    return meant.size() == 1 ? &snapshot.instances[meant.front()] : nullptr;
}

const client::Queued* find_queued_meant(const client::Snapshot& snapshot, const std::string& word,
                                        const Saying& saying) {
    std::vector<model::Named> all;
    all.reserve(snapshot.queue.size());
    for (const client::Queued& each : snapshot.queue) all.push_back({each.id, each.name, each.owner});
    const auto meant = model::meant_by(word, all, saying.user);
    if (meant.size() != 1) return nullptr;
    const bool resembles =
        saying.to_change && saying.user && model::only_resembles(word, all[meant.front()], saying.user);
    return resembles ? nullptr : &snapshot.queue[meant.front()];
}

const client::Queued* queued_alone(const client::Snapshot& snapshot, const std::string& word,
                                   const Saying& saying) {
    return find_instance_meant(snapshot, word, saying) == nullptr ? find_queued_meant(snapshot, word, saying)
                                                                  : nullptr;
}

client::Result<const client::Instance*> instance_meant(const client::Snapshot& snapshot,
                                                       const std::string& word, const Saying& saying,
                                                       client::Node& node) {
    if (const client::Instance* its = find_instance_meant(snapshot, word, saying)) {
        if (!saying.to_change || !saying.user || !model::only_resembles(word, named(*its), saying.user))
            return its;
        UserNames users(true);
        return client::fail(client::ClientError::Kind::not_found,
                            "instance " + model::quote(word) + ": " + std::string(model::kOnlyResembles) +
                                ". Try: name " + short_id(its->id) + " (" +
                                (its->name.empty() ? "" : shown_name(its->name) + ", ") + "of " +
                                owner_text(its->owner, {}, users) + ") if that is meant.");
    }
    if (const client::Queued* queued = find_queued_meant(snapshot, word, saying))
        return client::fail(client::ClientError::Kind::refused,
                            shown_name(queued->name, queued->id) + ": it waits in the queue, at position " +
                                std::to_string(queued->position) +
                                (queued->waits_for.empty() ? "" : " (" + queued->waits_for + ")") +
                                ". Try: cgpuctl queue, or the same when it runs.");
    const auto id = node.find_instance(word);
    if (!id) return tl::unexpected(id.error());
    const auto its = std::ranges::find(snapshot.instances, *id, &client::Instance::id);
    if (its != snapshot.instances.end()) return &*its;
    return client::fail(client::ClientError::Kind::not_found,
                        word +
                            ": it started or ended during this call. Try: run the command again, or cgpuctl "
                            "list.");
}

}  // namespace cgpu::cgpuctl
