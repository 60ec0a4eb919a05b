#include "client/cgpuctl/verbs/list_kept.hpp"

#include <set>

#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "client/cgpuctl/output/table.hpp"

namespace cgpu::cgpuctl {
namespace {

std::string priority_text(const std::optional<bool>& high) {
    if (!high) return {};
    return *high ? "high" : "normal";
}

}  // namespace

client::Result<void> list_kept(const Input& input, client::Node& node, Terminal& terminal) {
    const auto snapshot = node.read();
    if (!snapshot) return tl::unexpected(snapshot.error());
    const auto& all = snapshot->kept;
    if (input.json) {
        Json list = Json::array();
        for (const client::Kept& kept : all) list.push_back(to_json(kept));
        terminal.out() << to_text(list);
        return {};
    }
    if (input.quiet) {
        std::set<std::string> names;
        for (const client::Kept& kept : all) names.insert(kept.name);
        for (const std::string& name : names) terminal.out() << printable(name) << '\n';
        return {};
    }
    Table table({"NAME", "OWNER", "DEVICE", "MEMORY", "WEIGHT", "PRIORITY"});
    for (const client::Kept& kept : all)
        table.add({shown_name(kept.name), std::to_string(kept.owner), std::to_string(kept.device),
                   kept.memory_limit ? size_text(*kept.memory_limit) : "",
                   kept.weight ? std::to_string(*kept.weight) : "", priority_text(kept.high_priority)});
    table.print(terminal, !input.no_legend);
    return {};
}

}  // namespace cgpu::cgpuctl
