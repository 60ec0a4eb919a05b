// limits: what a user may have at most, and what is left.
#include <algorithm>

#include "client/cgpuctl/base/verbs.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "client/cgpuctl/output/table.hpp"

namespace cgpu::cgpuctl {
namespace {

std::string amount(const std::string& unit, std::uint64_t number) {
    if (unit == "bytes") return size_text(number);
    return std::to_string(number) + (unit == "percent" ? "%" : "");
}

void add_row(Table& table, const view::Limit& limit) {
    const std::string gpu = limit.gpu_index ? std::to_string(*limit.gpu_index) : "";
    if (limit.unit == "truth")
        return table.add({limit.name, gpu, limit.most == 0 ? "normal" : "high", "", "", limit.key});
    const std::uint64_t left = limit.most ? *limit.most - std::min(*limit.most, limit.used) : 0;
    table.add({limit.name, gpu, limit.most ? amount(limit.unit, *limit.most) : "unlimited",
               amount(limit.unit, limit.used), limit.most ? amount(limit.unit, left) : "unlimited",
               limit.key});
}

}  // namespace

client::Result<void> limits(const Input& input, client::Node& node, Terminal& terminal) {
    const auto limits = node.limits(input.user);
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
    table.print(terminal, !input.no_legend);
    return {};
}

}  // namespace cgpu::cgpuctl
