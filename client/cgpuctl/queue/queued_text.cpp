#include "client/cgpuctl/queue/queued_text.hpp"

#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "client/cgpuctl/output/people.hpp"
#include "client/cgpuctl/output/table.hpp"
#include "core/model/duration.hpp"

namespace cgpu::cgpuctl {

std::string span_text(std::uint64_t nanoseconds) {
    return model::format_duration(nanoseconds / 1'000'000'000);
}

void print_queued(const client::Queued& queued, const Input& input, Terminal& terminal) {
    if (input.json) {
        terminal.out() << to_text(to_json(queued));
        return;
    }
    UserNames users(input.host.empty());
    print_facts(terminal,
                {{"Instance", queued.id},
                 {"Name", printable(queued.name)},
                 {"Image", printable(queued.image)},
                 {"Owner", owner_text(queued.owner, queued.declared_owner, users)},
                 {"State", "queued, at position " + std::to_string(queued.position)},
                 {"Asks for", queued.asks_for + (queued.high_priority ? ", high priority" : "")},
                 {"Asked by", "process " + std::to_string(queued.pid) + ", " + time_text(queued.asked)},
                 {"Has waited", span_text(queued.waited)},
                 {"Waits on for", queued.waits_on ? span_text(*queued.waits_on) : "as long as it takes"},
                 {"Starts within", queued.starts_within ? span_text(*queued.starts_within) : "not known"},
                 {"Waits for", queued.waits_for}});
}

}  // namespace cgpu::cgpuctl
