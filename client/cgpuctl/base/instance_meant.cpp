#include "client/cgpuctl/base/instance_meant.hpp"

#include <algorithm>
#include <vector>

#include "core/model/instance_word.hpp"

namespace cgpu::cgpuctl {

const client::Instance* find_instance_meant(const client::Snapshot& snapshot, const std::string& word) {
    std::vector<model::Named> named;
    named.reserve(snapshot.instances.size());
    for (const client::Instance& each : snapshot.instances) named.push_back({each.id, each.name});
    const auto meant = model::meant_by(word, named);
    return meant.size() == 1 ? &snapshot.instances[meant.front()] : nullptr;
}

client::Result<const client::Instance*> instance_meant(const client::Snapshot& snapshot,
                                                       const std::string& word, client::Node& node) {
    if (const client::Instance* instance = find_instance_meant(snapshot, word)) return instance;
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
