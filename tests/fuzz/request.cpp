// What containers request, one after the other on one node. The first byte chooses the node's defaults; then
// come variables, NAME=VALUE a line, and a line `--` between two containers.
#include "core/admission/admit.hpp"
#include "core/request/unknown_name.hpp"
#include "tests/fuzz/support/input.hpp"
#include "tests/fuzz/support/must.hpp"

namespace cgpu::fuzz {
namespace {

model::Node a_node() {
    std::vector<model::Sighting> seen;
    for (std::uint8_t n = 0; n < 3; ++n) {
        model::Uuid::Raw raw{};
        raw.fill(n);
        seen.push_back({{model::Uuid(raw), n, "Tesla V100-SXM2-16GB",
                         model::Bytes::from_mib(n == 1 ? 22731 : 16130), n == 2 ? "MIG is on" : ""},
                        {}});
    }
    model::Node node;
    must(node.sync_gpus(seen).has_value(), "a node takes its GPUs");
    return node;
}

admission::Defaults some_defaults(unsigned bits) {
    admission::Defaults defaults;
    if ((bits & 1U) != 0) defaults.default_memory = model::Bytes::from_gib(2);
    if ((bits & 2U) != 0) defaults.placement = admission::Placement::spread;
    if ((bits & 4U) != 0) defaults.no_weight = admission::NoWeight::refuse;
    if ((bits & 8U) != 0) defaults.default_weight = 5;
    if ((bits & 16U) != 0) defaults.mode = model::Mode::memory;
    if ((bits & 32U) != 0) defaults.weights["trainer"] = 7;
    return defaults;
}

request::Variables variables_in(std::string_view text) {
    request::Variables variables;
    while (!text.empty()) {
        auto line = take_until(text, "\n");
        const auto name = take_until(line, "=");
        variables[std::string(name)] = line;
    }
    return variables;
}

void check(const request::Request& request) {
    must(request.count >= 1 && request.count <= model::kMaxGpusPerInstance, "a request is for 1 to 16 GPUs");
    must(request.memory.size() <= request.count, "no memory is asked for beyond the GPUs");
    must(request.gpus.empty() || request.gpus.size() == request.count, "named GPUs are all GPUs");
    must(request.weight.value_or(1) >= 1 && request.weight.value_or(1) <= 25, "a weight is 1 to 25");
    must(request.percent.value_or(1) >= 1 && request.percent.value_or(1) <= 100, "compute is 1 to 100 %");
}

void admit(model::Node& node, const request::Request& request, const admission::Defaults& defaults, int n) {
    const model::Node before = node;
    const auto grant = admission::admit(node, request, defaults);
    must(node == before, "admission changes nothing");
    if (!grant) return must_be_a_refusal(grant.error().text);
    if (!grant->managed()) return must(request.memory.empty(), "who asks for memory is managed");
    must(grant->quotas.size() == request.count, "all is granted or nothing");
    model::Instance instance{*model::InstanceId::parse("i" + std::to_string(n)),
                             "",
                             0,
                             0,
                             grant->mode,
                             grant->quotas,
                             std::nullopt};
    must(node.add_instance(std::move(instance)).has_value(), "what was granted is accepted");
    for (const model::Gpu& gpu : node.gpus()) {
        must(node.allocated(gpu.uuid) <= gpu.total, "limits never add up to more than the card has");
        must(node.used_weight(gpu.uuid) <= gpu.settings.max_inst,
             "weights never add up to more than max_inst");
    }
}

}  // namespace
}  // namespace cgpu::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cgpu;
    fuzz::Input input(data, size);
    const auto defaults = fuzz::some_defaults(input.byte());
    static const model::Node empty = fuzz::a_node();
    model::Node node = empty;
    auto text = input.text();
    for (int n = 0; n < 40 && !text.empty(); ++n) {
        const auto variables = fuzz::variables_in(fuzz::take_until(text, "\n--\n"));
        static_cast<void>(request::find_unknown_name(variables));
        auto parsed = request::parse_request(variables);
        if (!parsed) {
            fuzz::must_be_a_refusal(parsed.error().text);
        } else if (*parsed) {
            fuzz::check(**parsed);
            if (n % 2 == 1) (*parsed)->container_name = "trainer";
            fuzz::admit(node, **parsed, defaults, n);
        }
    }
    return 0;
}
