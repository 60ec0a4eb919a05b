#include "daemon/app/events/setting_events.hpp"

#include <string>
#include <utility>

#include "core/model/differences.hpp"
#include "core/model/quote.hpp"
#include "core/model/size.hpp"

namespace cgpu::app {
namespace {

std::string size_text(model::Bytes size) {
    return model::Bytes::from_mib(size.mib()) == size ? model::format_mib(size) : model::format_size(size);
}

std::string weight_text(const model::Quota& quota) {
    return quota.percent ? std::to_string(*quota.percent) + "%" : std::to_string(quota.weight);
}

const char* truth_text(bool value) { return value ? "true" : "false"; }

const char* priority_text(const model::Quota& quota) { return quota.high_priority ? "high" : "normal"; }

/// Collects the events of one change.
class Differences {
  public:
    Differences(const std::optional<Who>& by, bool kept) : by_(by), kept_(kept) {}

    /// `kept`: what holds after the reboot.
    void of(const model::Gpu& then, const model::Gpu& now, const model::GpuSettings& kept) {
        const auto add = [&](const char* setting, const char* shown, auto figure, auto text) {
            if (then.settings.*figure == now.settings.*figure) return;
            const std::string before(text(then.settings.*figure));
            const std::string after(text(now.settings.*figure));
            const bool until_reboot = kept.*figure != now.settings.*figure;
            push(event_of(EventType::setting_changed, log::Level::info, now,
                          describe(now) + ": " + shown + " " + after + " is set" +
                              (until_reboot ? ", until the reboot" : "") + ", instead of " + before),
                 setting, before, after);
        };
        const auto number = [](std::uint32_t n) { return std::to_string(n); };
        add("policy", "policy", &model::GpuSettings::policy,
            [](model::Policy policy) { return model::to_string(policy); });
        add("max-inst", "max_inst", &model::GpuSettings::max_inst, number);
        add("prio-ratio", "prio_ratio", &model::GpuSettings::prio_ratio, number);
        add("mode", "mode", &model::GpuSettings::mode,
            [](model::Mode mode) { return model::to_string(mode); });
        if (then.drained != now.drained)
            push(event_of(EventType::setting_changed, log::Level::info, now,
                          describe(now) + (now.drained ? ": it is drained, and takes no new instance"
                                                       : ": it isn't drained any more, and takes instances")),
                 "drained", truth_text(then.drained), truth_text(now.drained));
    }

    void of(const model::Instance& instance, const model::Gpu& gpu, const model::Quota& then,
            const model::Quota& now) {
        const auto add = [&](const char* setting, const std::string& what, const std::string& before,
                             const std::string& after) {
            auto event = event_of(EventType::setting_changed, log::Level::info, instance,
                                  model::describe(instance) + ": " + what);
            set_gpu(event, gpu);
            push(std::move(event), setting, before, after);
        };
        const std::string on = " on " + describe(gpu) + " is set";
        const std::string until = kept_ ? "" : ", until it ends";
        if (then.memory_limit != now.memory_limit) {
            const auto before = size_text(then.memory_limit);
            const auto after = size_text(now.memory_limit);
            add("memory-limit", "memory limit " + after + on + ", instead of " + before + until, before,
                after);
        }
        if (now.percent && then.percent == now.percent && then.weight != now.weight) {
            const auto before = std::to_string(then.weight);
            const auto after = std::to_string(now.weight);
            add("weight",
                weight_text(now) + " of the compute are " + after + " slices of " + describe(gpu) +
                    " now, instead of " + before,
                before, after);
        } else if (then.percent != now.percent || then.weight != now.weight) {
            add("weight", "weight " + weight_text(now) + on + ", instead of " + weight_text(then) + until,
                weight_text(then), weight_text(now));
        }
        if (then.high_priority != now.high_priority)
            add("priority",
                std::string(priority_text(now)) + " priority" + on + ", instead of " + priority_text(then) +
                    until,
                priority_text(then), priority_text(now));
        if (then.paused != now.paused)
            add("paused",
                now.paused ? "it is paused on " + describe(gpu) + ", until it is resumed or ends"
                           : "it is resumed on " + describe(gpu),
                truth_text(then.paused), truth_text(now.paused));
    }

    void of(const model::KeptKey& key, const std::string& before, const std::string& after) {
        if (before == after) return;
        Event event{.type = EventType::setting_changed};
        event.message =
            "the next starts of " + model::quote(key.name) + " of user id " + std::to_string(key.owner) +
            (key.device == 0 ? "" : " (its device " + std::to_string(key.device) + ")") + ": " +
            (after.empty() ? before + " is not kept any more"
                           : after + " is kept" + (before.empty() ? "" : ", instead of " + before));
        event.name = key.name;
        event.details["owner"] = std::uint64_t{key.owner};
        push(std::move(event), "kept", before, after);
    }

    [[nodiscard]] std::vector<Event> take() { return std::move(events_); }

  private:
    void push(Event event, const char* setting, const std::string& before, const std::string& after) {
        if (by_) event.message += ", by " + describe(*by_);
        event.by = by_;
        event.details["setting"] = std::string(setting);
        event.details["before"] = before;
        event.details["after"] = after;
        events_.push_back(std::move(event));
    }

    const std::optional<Who>& by_;
    bool kept_;
    std::vector<Event> events_;
};

void compare_kept(const model::Kept& before, const model::Kept& now, Differences& differences) {
    for (const auto& [key, figures] : before)
        if (!now.contains(key)) differences.of(key, model::describe(figures), "");
    // Most changes concern none of hundreds: no text is made of those.
    for (const auto& [key, figures] : now) {
        const auto then = before.find(key);
        if (then != before.end() && then->second == figures) continue;
        differences.of(key, then == before.end() ? "" : model::describe(then->second),
                       model::describe(figures));
    }
}

}  // namespace

std::vector<Event> setting_events(const model::Node& before, const model::Node& now,
                                  const std::optional<Who>& by, bool kept) {
    Differences differences(by, kept);
    const auto& until_reboot = now.until_reboot().gpus;
    for (const auto& gpu : now.gpus()) {
        const auto then_again = until_reboot.find(gpu.uuid);
        if (const auto* then = before.find_gpu(gpu.uuid))
            differences.of(*then, gpu, then_again == until_reboot.end() ? gpu.settings : then_again->second);
    }
    model::for_each_difference(before.instances(), now.instances(),
                               [&](const model::Instance* then, const model::Instance* instance) {
                                   if (then == nullptr || instance == nullptr || *then == *instance) return;
                                   for (const auto& quota : instance->quotas) {
                                       const auto* earlier = then->quota_on(quota.gpu);
                                       const auto* gpu = now.find_gpu(quota.gpu);
                                       if (earlier != nullptr && gpu != nullptr)
                                           differences.of(*instance, *gpu, *earlier, quota);
                                   }
                               });
    if (!before.share_kept().is(now.share_kept())) compare_kept(before.kept(), now.kept(), differences);
    return differences.take();
}

}  // namespace cgpu::app
