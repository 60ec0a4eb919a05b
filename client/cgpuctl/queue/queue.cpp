// queue: the requests that wait.
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "client/cgpuctl/output/people.hpp"
#include "client/cgpuctl/output/table.hpp"
#include "client/cgpuctl/queue/queued_text.hpp"
#include "client/cgpuctl/queue/reserve.hpp"

namespace cgpu::cgpuctl {
client::Result<void> queue_verb(const Input& input, client::Node& node, Terminal& terminal) {
    const auto snapshot = node.read();
    if (!snapshot) return tl::unexpected(snapshot.error());
    if (input.json) {
        Json queue = Json::array();
        for (const client::Queued& queued : snapshot->queue) queue.push_back(to_json(queued));
        terminal.out() << to_text(queue);
        return {};
    }
    UserNames users(input.host.empty());
    Table table(
        {"POSITION", "ID", "NAME", "OWNER", "ASKS FOR", "WAITED", "UNTIL", "STARTS WITHIN", "WAITS FOR"});
    for (const client::Queued& queued : snapshot->queue)
        table.add({std::to_string(queued.position), short_id(queued.id), shown_name(queued.name),
                   owner_text(queued.owner, queued.declared_owner, users), queued.asks_for,
                   span_text(queued.waited), queued.waits_on ? "in " + span_text(*queued.waits_on) : "-",
                   queued.starts_within ? span_text(*queued.starts_within) : "-",
                   queued.waits_for.empty() ? "-" : queued.waits_for});
    table.print(terminal, !input.no_legend);
    return {};
}

}  // namespace cgpu::cgpuctl
