// cdi generate: describes parts of the node's GPUs to the engines that know CDI.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "client/cgpuctl/cdi/cdi.hpp"
#include "client/cgpuctl/cdi/cdi_spec.hpp"
#include "client/cgpuctl/docker/engine/engine_file.hpp"
#include "client/cgpuctl/docker/runtime_program.hpp"
#include "core/model/quote.hpp"

namespace cgpu::cgpuctl {
namespace {

namespace fs = std::filesystem;
using client::Result;
using Kind = client::ClientError::Kind;

Result<void> check(const CdiInput& input) {
    if (input.output.empty()) return {};
    const auto kind = fs::path(input.output).extension();
    if (kind == ".json" || kind == ".yaml") return {};
    return client::fail(Kind::usage,
                        "--output " + model::quote(input.output) +
                            ": engines read only files that end in .json or .yaml. Try: --output "
                            "/etc/cdi/cgpu.json.");
}

using Values = std::vector<client::ConfigurationValue>;

/// Where cgpud has the folders of instances.
std::string instances_folder(const Values& values) {
    const auto found = std::find_if(values.begin(), values.end(),
                                    [](const auto& value) { return value.key == "runtime_dir"; });
    return (found == values.end() ? std::string("/run/cgpu") : found->value) + "/instances";
}

/// The names of the node's profiles, each of which has memory.
std::vector<std::string> profiles_in(const Values& values) {
    constexpr std::string_view kBegin = "profiles.";
    constexpr std::string_view kEnd = ".mem";
    std::vector<std::string> names;
    for (const auto& value : values) {
        const std::string_view key = value.key;
        if (!key.starts_with(kBegin) || !key.ends_with(kEnd) || key.ends_with(".max.mem")) continue;
        names.emplace_back(key.substr(kBegin.size(), key.size() - kBegin.size() - kEnd.size()));
    }
    return names;
}

Result<CdiSpec> make_spec(client::Node& node) {
    const auto program = runtime_program();
    if (!program) return tl::unexpected(program.error());
    const auto values = node.configuration();
    if (!values) return tl::unexpected(values.error());
    const auto snapshot = node.read();
    if (!snapshot) return tl::unexpected(snapshot.error());
    const char* bus = std::getenv("DBUS_SYSTEM_BUS_ADDRESS");
    return cdi_spec(snapshot->gpus, {*program, instances_folder(*values), bus == nullptr ? "" : bus},
                    profiles_in(*values));
}

}  // namespace

Result<void> cdi(const CdiInput& input, client::Node& node, Terminal& terminal) {
    if (auto checked = check(input); !checked) return checked;
    const auto spec = make_spec(node);
    if (!spec) return tl::unexpected(spec.error());
    // The specification of CDI asks for at least one device.
    if (spec->json["devices"].empty())
        return client::fail(
            Kind::failed,
            "cgpuctl cdi generate: this node has no GPU that takes instances. Try: cgpuctl doctor.");
    for (const std::string& sentence : spec->left_out) terminal.warning(sentence);
    const std::string text = to_text(spec->json);
    if (input.output.empty()) {
        terminal.out() << text;
        return {};
    }
    const auto now = read_engine_file(input.output);
    if (!now) return tl::unexpected(now.error());
    if (input.dry_run) {
        terminal.done(input.output + ": " + (*now == text ? "nothing would change" : "it would be changed") +
                      "; nothing was.");
        return {};
    }
    if (*now != text)
        if (auto written = write_engine_file(input.output, text); !written) return written;
    terminal.done(
        input.output + ": it has " + std::to_string(spec->json["devices"].size()) +
        " devices (docker run --device cgpu.org/gpu=quarter …); engines read it at their next container.");
    return {};
}

}  // namespace cgpu::cgpuctl
