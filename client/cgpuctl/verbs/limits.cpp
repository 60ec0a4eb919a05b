// limits: what a user may have at most, and what is left.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "client/cgpuctl/output/table.hpp"
#include "client/cgpuctl/verbs/looking.hpp"
#include "client/run/job/job_user.hpp"
#include "core/model/duration.hpp"

namespace cgpu::cgpuctl {
namespace {

std::string amount(const std::string& unit, std::uint64_t number) {
    if (unit == "bytes") return size_text(number);
    if (unit == "seconds") return model::format_duration(number);
    return std::to_string(number) + (unit == "percent" ? "%" : "");
}

void add_row(Table& table, const view::Limit& limit) {
    const std::string gpu = limit.gpu_index ? std::to_string(*limit.gpu_index) : "";
    if (limit.unit == "truth")
        return table.add({limit.name, gpu, limit.most == 0 ? "normal" : "high", "", "", limit.key});
    // Of each instance: nothing of it is used up.
    if (limit.unit == "seconds")
        return table.add(
            {limit.name, gpu, limit.most ? amount(limit.unit, *limit.most) : "unlimited", "", "", limit.key});
    const std::uint64_t left = limit.most ? *limit.most - std::min(*limit.most, limit.used) : 0;
    table.add({limit.name, gpu, limit.most ? amount(limit.unit, *limit.most) : "unlimited",
               amount(limit.unit, limit.used), limit.most ? amount(limit.unit, left) : "unlimited",
               limit.key});
}

/// Root has none of its own, so who calls sudo or pkexec asks about the own ones, as `run` runs jobs for that
/// user.
client::Result<std::string> whose(const LimitsInput& input) {
    if (!input.user.empty() || !input.host.empty() || geteuid() != 0) return input.user;
    client::Variables environment;
    for (const char* name : {"SUDO_UID", "PKEXEC_UID"})
        if (const char* value = std::getenv(name)) environment.emplace(name, value);
    return client::job_user("", environment).map([](const std::optional<client::JobUser>& caller) {
        return caller ? std::to_string(caller->uid) : std::string();
    });
}

}  // namespace

client::Result<void> limits(const LimitsInput& input, client::Node& node, Terminal& terminal) {
    const auto limits = whose(input).and_then([&](const std::string& user) { return node.limits(user); });
    if (!limits) return tl::unexpected(limits.error());
    if (input.json) {
        terminal.out() << to_text(to_json(*limits));
        return {};
    }
    if (limits->limits.empty()) {
        terminal.done("No limit holds for " + printable(limits->holder) + ".");
        return {};
    }
    Table table({"LIMIT", "GPU", "MOST", "USED", "LEFT", "SET-BY"});
    for (const view::Limit& limit : limits->limits) add_row(table, limit);
    if (!input.no_legend) terminal.out() << "Limits of " << printable(limits->holder) << ":\n";
    table.print(terminal, !input.no_legend);
    return {};
}

}  // namespace cgpu::cgpuctl
