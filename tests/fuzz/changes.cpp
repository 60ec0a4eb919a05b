// What a caller gives to Apply: options, and changes of a node with two GPUs and five instances. The first
// byte says whether the state can be saved. Then come maps, a key for each of these: a byte for the key, one
// for the type, and the value; a byte of 255 ends a map. The first map is the options.
#include "daemon/bus/message/changes.hpp"
#include "daemon/app/instances/node_changes.hpp"
#include "tests/fuzz/support/input.hpp"
#include "tests/fuzz/support/must.hpp"
#include "tests/unit/daemon/support/app_fakes.hpp"

namespace cgpu::fuzz {
namespace {

model::Uuid uuid(std::uint8_t n) {
    model::Uuid::Raw raw{};
    raw.fill(n);
    return model::Uuid(raw);
}

/// `a` to `e`, the last of them on both GPUs; `b` has a quarter of the compute.
model::Node a_node() {
    model::Node node;
    std::vector<model::Sighting> seen;
    for (std::uint8_t n = 0; n < 2; ++n)
        seen.push_back({{uuid(n), n, "Tesla V100-SXM2-16GB", model::Bytes::from_mib(16'130), ""}, {}});
    must(node.sync_gpus(seen).has_value(), "a node takes its GPUs");
    must(node.set_max_inst(uuid(0), 20).has_value(), "a GPU takes 20 instances");
    for (const char name : std::string("abcde")) {
        model::Instance instance{*model::InstanceId::parse(std::string(12, name)),
                                 std::string(1, name),
                                 0,
                                 0,
                                 model::Mode::memory_compute,
                                 {{uuid(0), model::Bytes::from_mib(2'000), 3, false, false}},
                                 std::nullopt,
                                 1000};
        if (name == 'b') {
            instance.quotas[0].weight = 5;
            instance.quotas[0].percent = 25;
        }
        if (name == 'e') instance.quotas.push_back({uuid(1), model::Bytes::from_mib(9'000), 2, false, false});
        must(node.add_instance(std::move(instance)).has_value(), "it takes its instances");
    }
    return node;
}

sdbus::Variant some_value(Input& input) {
    static const std::vector<std::string> texts = {"0",      "1",        "a",       "b",           "c",
                                                   "d",      "e",        "",        "aaaa",        "weighted",
                                                   "native", "nonsense", "\x1b[2J", "eeeeeeeeeeee"};
    switch (input.byte() % 6) {
        case 0:
            return sdbus::Variant(input.byte() % 2 != 0);
        case 1:
        case 2:
            return sdbus::Variant(std::uint32_t{input.byte()});
        case 3:
            return sdbus::Variant(std::uint64_t{input.number()} << 20U);
        case 4:
            return sdbus::Variant(std::uint64_t{input.byte()});
        default:
            return sdbus::Variant(texts[input.byte() % texts.size()]);
    }
}

bus::OptionMap some_map(Input& input) {
    static const std::vector<const char*> keys = {"gpu",        "instance", "policy",       "max-inst",
                                                  "prio-ratio", "weight",   "memory-limit", "high-priority",
                                                  "dry-run",    "force",    "persist",      "if-generation",
                                                  "colour",     "revert",   "drained",      "paused"};
    bus::OptionMap map;
    for (unsigned key = input.byte(); key != 255 && !input.empty(); key = input.byte())
        map.insert_or_assign(keys[key % keys.size()], some_value(input));
    return map;
}

void check_rules(const model::Node& node) {
    std::vector<model::Instance> instances;
    for (const auto& [id, instance] : node.instances()) instances.push_back(instance);
    const auto restored = model::Node::restore(node.generation(), node.gpus(), instances, node.kept());
    must(restored && *restored == node, "the node keeps its rules");
    for (const auto& gpu : node.gpus())
        must(node.allocated(gpu.uuid) <= gpu.total, "limits never add up to more than the card has");
}

/// Every setting that a change names has that value then, unless a percentage follows max_inst.
void check_done(const model::Node& node, const std::vector<app::NodeChange>& changes) {
    for (const auto& change : changes) {
        const auto* gpu = std::get_if<app::GpuChange>(&change);
        if (gpu == nullptr) continue;
        const auto& settings = (gpu->gpu == "0" ? node.gpus()[0] : node.gpus()[1]).settings;
        must(gpu->max_inst.value_or(settings.max_inst) == settings.max_inst, "max_inst is what was given");
        must(gpu->prio_ratio.value_or(settings.prio_ratio) == settings.prio_ratio, "and so is prio_ratio");
    }
}

}  // namespace
}  // namespace cgpu::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cgpu;
    static const model::Node before = fuzz::a_node();
    fuzz::Input input(data, size);
    app::test::FakeStore disk;
    app::test::FakePublisher publisher;
    app::test::FakeLinks links;
    app::test::FakeCompute compute;
    app::test::FakeUsage usage;
    disk.full = input.byte() % 8 == 7;
    usage.used = std::uint64_t{512} << 20U;
    app::Events events;
    app::NodeState state(before, disk, {compute}, events);
    app::NodeChanges all(state, links, publisher, usage,
                         [](const model::Gpu&) { return model::GpuSettings{}; });

    const auto options = bus::read_options(fuzz::some_map(input), {.force = true, .persist = true});
    std::vector<bus::OptionMap> maps;
    while (!input.empty() && maps.size() < 20) maps.push_back(fuzz::some_map(input));
    const auto changes = bus::read_changes(maps);
    if (!options) fuzz::must_be_a_refusal(options.error().text);
    if (!changes) fuzz::must_be_a_refusal(changes.error().text);
    if (!options || !changes) return 0;

    const auto done = all.apply(*changes, *options);
    const bool changed = !(state.node() == before);
    if (!done) fuzz::must_be_a_refusal(done.error().text);
    fuzz::must(!changed || (done && !options->dry_run), "all is changed or nothing");
    fuzz::must(disk.saves == (changed ? 1 : 0), "what is changed is saved, once");
    fuzz::must(compute.generation == (changed ? state.node().generation() : 0),
               "compute knows what is in force");
    fuzz::must(!changed || disk.saved == state.node(), "what is saved is in force");
    fuzz::must(changed || (publisher.said.empty() && links.refreshed.empty()),
               "nothing is told if nothing has changed");
    fuzz::must(!done || *done == state.node().generation(), "the answer is the generation");
    if (done && !options->dry_run) fuzz::check_done(state.node(), *changes);
    fuzz::check_rules(state.node());
    return 0;
}
