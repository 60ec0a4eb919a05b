#include "client/cgpuctl/batch/missing.hpp"

#include <algorithm>

#include "client/cgpuctl/base/gpu_meant.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "core/model/instance_word.hpp"

namespace cgpu::cgpuctl {
namespace {

using Kind = client::ClientError::Kind;

/// One of another user that it only resembles isn't changed by it.
bool is_there(const std::string& instance, const client::Snapshot& snapshot, const Saying& saying) {
    return std::ranges::any_of(snapshot.instances, [&](const client::Instance& each) {
        const model::Named named{each.id, each.name, each.owner};
        return model::meaning_of(instance, named) &&
               !(saying.user && model::only_resembles(instance, named, saying.user));
    });
}

bool is_gpu_there(const std::string& gpu, const client::Snapshot& snapshot, client::Node& node) {
    const auto meant = find_gpu_meant(snapshot, gpu, node);
    if (!meant) return meant.error().kind != Kind::not_found;
    // A word that is no GPU's at all stays: it is a mistake.
    return *meant != nullptr || gpu.find_first_not_of("0123456789") != std::string::npos;
}

/// What of it is missing; empty: nothing.
std::string missing_of(const client::Change& change, const client::Snapshot& snapshot, const Saying& saying,
                       client::Node& node) {
    if (!change.instance.empty() && !is_there(change.instance, snapshot, saying))
        return printable(change.instance) + ": there is no such instance";
    if (!change.gpu.empty() && !is_gpu_there(change.gpu, snapshot, node))
        return "GPU " + printable(change.gpu) + ": there is no such GPU";
    return {};
}

}  // namespace

client::Result<std::vector<std::string>> drop_missing(Batch& batch, const std::string& name,
                                                      const Saying& saying, client::Node& node) {
    std::vector<std::string> sentences;
    if (batch.changes.empty()) return sentences;
    const auto snapshot = node.read();
    if (!snapshot) return tl::unexpected(snapshot.error());
    Batch left;
    for (std::size_t each = 0; each < batch.changes.size(); ++each) {
        const auto missing = missing_of(batch.changes[each], *snapshot, saying, node);
        if (!missing.empty()) {
            sentences.push_back(name);
            sentences.back().append(":").append(std::to_string(batch.lines[each])).append(": ");
            sentences.back().append(missing).append("; it is left out");
            continue;
        }
        left.changes.push_back(std::move(batch.changes[each]));
        left.lines.push_back(batch.lines[each]);
    }
    batch = std::move(left);
    return sentences;
}

}  // namespace cgpu::cgpuctl
