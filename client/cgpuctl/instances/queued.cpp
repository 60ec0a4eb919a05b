#include "client/cgpuctl/instances/queued.hpp"

#include "client/cgpuctl/output/format.hpp"

namespace cgpu::cgpuctl {

client::Result<std::vector<std::string>> take_out_of_queue(const client::Snapshot& snapshot,
                                                           const Input& input, client::Node& node,
                                                           Terminal& terminal) {
    const auto saying = said_to_change(input);
    std::vector<std::string> others;
    for (const std::string& word : input.instances) {
        const auto* queued = queued_alone(snapshot, word, saying);
        if (queued == nullptr) {
            others.push_back(word);
            continue;
        }
        const auto title = shown_name(queued->name, queued->id);
        if (input.dry_run) {
            terminal.done(title + ": it would be taken out of the queue; nothing was changed.");
            continue;
        }
        if (auto released = node.release_instance(queued->id); !released)
            return tl::unexpected(released.error());
        terminal.done(title + ": taken out of the queue.");
    }
    return others;
}

}  // namespace cgpu::cgpuctl
