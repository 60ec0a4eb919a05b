// extend: more time for instances that have a time limit.
#include "client/cgpuctl/base/changes.hpp"
#include "client/cgpuctl/instances/verbs.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "core/model/duration.hpp"
#include "core/model/quote.hpp"

namespace cgpu::cgpuctl {

client::Result<void> extend_verb(const ExtendInput& input, client::Node& node, Terminal& terminal) {
    const auto seconds = model::parse_duration(input.time);
    if (!seconds)
        return client::fail(client::ClientError::Kind::usage, "time " + model::quote(input.time) + ": " +
                                                                  seconds.error() +
                                                                  ". Try: " + model::kDurationExamples + ".");
    const auto how = making_of(input);
    if (!how) return tl::unexpected(how.error());
    // All or none: a dry run of each shows it before the first is changed.
    client::Making dry = *how;
    dry.dry_run = true;
    if (input.instances.size() > 1 && !how->dry_run)
        for (const std::string& instance : input.instances)
            if (auto could = node.extend(instance, *seconds, dry); !could) return could;
    client::Making each = *how;
    Json done = Json::array();
    for (const std::string& instance : input.instances) {
        if (auto extended = node.extend(instance, *seconds, each); !extended) return extended;
        each.if_generation.reset();  // the first change has made another one
        if (input.json)
            done.push_back({{"instance", instance}, {"seconds", *seconds}, {"dry_run", how->dry_run}});
        else
            terminal.done(printable(instance) + (how->dry_run ? ": it could have " : ": it has ") +
                          model::format_duration(*seconds) + " more" +
                          (how->dry_run ? "; nothing was changed." : "."));
    }
    if (input.json) terminal.out() << to_text(done);
    return {};
}

}  // namespace cgpu::cgpuctl
