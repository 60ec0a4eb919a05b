#include "client/cgpuctl/instances/meant.hpp"

#include <algorithm>

#include "client/cgpuctl/base/instance_meant.hpp"

namespace cgpu::cgpuctl {

client::Result<std::vector<client::Instance>> instances_meant(const client::Snapshot& snapshot,
                                                              const std::vector<std::string>& words,
                                                              const Saying& saying, client::Node& node) {
    std::vector<client::Instance> all;
    for (const std::string& word : words) {
        const auto meant = instance_meant(snapshot, word, saying, node);
        if (!meant) return tl::unexpected(meant.error());
        if (std::ranges::count(all, (*meant)->id, &client::Instance::id) == 0) all.push_back(**meant);
    }
    return all;
}

}  // namespace cgpu::cgpuctl
