#include "client/cgpuctl/base/changes.hpp"

#include "client/cgpuctl/base/words.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/values.hpp"
#include "core/model/gpu.hpp"
#include "core/model/policy.hpp"
#include "core/model/quote.hpp"
#include "core/model/similar.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::Change;
using client::ClientError;
using client::Result;
using Kind = ClientError::Kind;

Wanted of_gpu(Change change, std::string figure, std::string key, Json value) {
    return {{std::move(change)}, std::move(figure), std::move(key), std::move(value)};
}

template <class Set>
Wanted of_instances(const InstanceSettingInput& input, std::string figure, std::string key, Json value,
                    Set set) {
    Wanted wanted{{}, std::move(figure), std::move(key), std::move(value)};
    for (const std::string& instance : input.instances) {
        wanted.changes.push_back({instance, input.gpu});
        set(wanted.changes.back());
    }
    return wanted;
}

/// Of `drain node`.
constexpr const char* kEveryGpu = "node";

Wanted paused_or_not(const InstanceSettingInput& input, bool paused) {
    auto wanted = of_instances(input, paused ? "paused" : "resumed", "paused", paused,
                               [&](Change& change) { change.paused = paused; });
    wanted.paused = paused;
    return wanted;
}

Wanted drained_or_not(const DrainInput& input, bool drained) {
    Wanted wanted{{}, drained ? "drained" : "undrained", "drained", drained};
    for (const std::string& target : input.gpus)
        wanted.changes.push_back({.instance = "", .gpu = target, .drained = drained});
    return wanted;
}

}  // namespace

Result<Wanted> wanted_policy(const GpuSettingInput& input) {
    const auto policy = model::parse_policy(input.value);
    if (!policy) {
        const auto likely = model::likely_policy(input.value);
        return client::fail(Kind::usage, "policy " + model::quote(input.value) + ": " + policy.error() +
                                             ". Try: cgpuctl set-policy " + printable(input.gpu) + " " +
                                             std::string(likely.empty() ? "weighted" : likely) + ".");
    }
    const std::string name(model::to_string(*policy));
    return of_gpu({.instance = "", .gpu = input.gpu, .policy = input.value}, "policy " + name, "policy",
                  name);
}

Result<Wanted> wanted_max_inst(const GpuSettingInput& input) {
    return read_count_in("max_inst", input.value, model::kMinMaxInst, model::kMaxMaxInst)
        .map([&](std::uint32_t n) {
            return of_gpu({.instance = "", .gpu = input.gpu, .max_inst = n}, "max_inst " + std::to_string(n),
                          "max_inst", n);
        });
}

Result<Wanted> wanted_prio_ratio(const GpuSettingInput& input) {
    return read_count_in("prio_ratio", input.value, model::kMinPrioRatio, model::kMaxPrioRatio)
        .map([&](std::uint32_t n) {
            return of_gpu({.instance = "", .gpu = input.gpu, .prio_ratio = n},
                          "prio_ratio " + std::to_string(n), "prio_ratio", n);
        });
}

Result<Wanted> wanted_memory(const InstanceSettingInput& input) {
    return read_size("memory limit", input.value).map([&](const model::Bytes& size) {
        return of_instances(input, "memory limit " + size_text(size.count()), "memory_limit_bytes",
                            size.count(), [&](Change& change) { change.memory_limit = size.count(); });
    });
}

Result<Wanted> wanted_weight(const InstanceSettingInput& input) {
    return read_weight(input.value).map([&](const Weight& weight) {
        const auto set = [&](Change& change) {
            change.weight = weight.slices;
            change.percent = weight.percent;
        };
        if (weight.percent)
            return of_instances(input, std::to_string(*weight.percent) + "% of the compute", "percentage",
                                *weight.percent, set);
        auto wanted =
            of_instances(input, "weight " + std::to_string(*weight.slices), "weight", *weight.slices, set);
        if (*weight.slices == 0) wanted.paused = true;
        return wanted;
    });
}

Result<Wanted> wanted_priority(const InstanceSettingInput& input) {
    const std::string priority = model::lowered(input.value);
    if (priority != "high" && priority != "normal")
        return client::fail(Kind::usage, "priority " + model::quote(input.value) +
                                             ": there is no such. Try: high or normal.");
    const bool high = priority == "high";
    return of_instances(input, priority + " priority", "high_priority", high,
                        [&](Change& change) { change.high_priority = high; });
}

Result<Wanted> wanted_pause(const InstanceSettingInput& input) { return paused_or_not(input, true); }

Result<Wanted> wanted_resume(const InstanceSettingInput& input) { return paused_or_not(input, false); }

Result<Wanted> wanted_drain(const DrainInput& input) { return drained_or_not(input, true); }

Result<Wanted> wanted_undrain(const DrainInput& input) { return drained_or_not(input, false); }

Result<std::vector<Change>> for_each_gpu(const Change& change, client::Node& node) {
    if (change.drained && change.gpu != kEveryGpu && !names_a_gpu(change.gpu))
        return client::fail(Kind::not_found, "GPU " + model::quote(change.gpu) +
                                                 ": there is no such GPU. Try: use node for all GPUs, or "
                                                 "name one by its index, UUID or PCI address.");
    if (!change.instance.empty() || change.gpu != kEveryGpu) return std::vector{change};
    const auto snapshot = node.read();
    if (!snapshot) return tl::unexpected(snapshot.error());
    std::vector<Change> changes;
    for (const client::Gpu& gpu : snapshot->gpus) {
        changes.push_back(change);
        changes.back().gpu = gpu.present ? std::to_string(gpu.index) : gpu.uuid;
    }
    if (changes.empty())
        return client::fail(Kind::refused, "node: it has no GPU. Try: cgpuctl doctor, which says more.");
    return changes;
}

Result<client::Making> making_of(const ChangingInput& input) {
    client::Making how{input.dry_run, input.runtime, input.persist, input.force};
    if (input.if_generation.empty()) return how;
    return read_number("generation", input.if_generation).map([&](std::uint64_t number) {
        how.if_generation = number;
        return how;
    });
}

Result<client::Making> make(const std::vector<Change>& changes, const ChangingInput& input,
                            client::Node& node) {
    auto how = making_of(input);
    if (!how) return how;
    if (const auto done = node.apply(changes, *how); !done) {
        ClientError refusal = done.error();
        client::take_change_number(refusal, changes.size());
        return tl::unexpected(std::move(refusal));
    }
    return how;
}

}  // namespace cgpu::cgpuctl
