// What is checked before a job begins.
#include <utility>

#include "core/model/quote.hpp"
#include "core/upgrade/compatible.hpp"
#include "core/upgrade/objections.hpp"
#include "daemon/app/upgrade/upgrader.hpp"

namespace cgpu::app {
namespace {

using model::Refusal;

constexpr std::uint32_t kHotTimeout = 60;    // seconds
constexpr std::uint32_t kColdTimeout = 600;  // seconds
constexpr std::uint32_t kLongestTimeout = 86400;
constexpr upgrade::Nanos kNanosASecond = 1'000'000'000;
/// Named in a refusal, which is one line.
constexpr std::size_t kMostNamed = 8;

std::string list(const std::vector<std::string>& items, const char* between) {
    std::string text;
    for (std::size_t i = 0; i < items.size() && i < kMostNamed; ++i)
        text += (i == 0 ? "" : between) + items[i];
    if (items.size() > kMostNamed) text += between + std::to_string(items.size() - kMostNamed) + " more";
    return text;
}

std::string what(const upgrade::Manifest& target) { return "upgrade to " + target.version.str(); }

}  // namespace

Result<std::uint64_t> Upgrader::begin(upgrade::Kind kind, std::string_view version,
                                      const UpgradeOptions& options) {
    const bool hot = kind == upgrade::Kind::hot;
    const auto timeout = timeout_of(options, hot ? kHotTimeout : kColdTimeout);
    if (!timeout) return tl::unexpected(timeout.error());
    if (options.drain && hot)
        return model::refuse(Refusal::Reason::invalid, "drain", "a hot upgrade waits for no instance to end",
                             "a cold upgrade, or without it");
    const auto manifest = target(version);
    if (!manifest) return tl::unexpected(manifest.error());
    const auto there = in_the_way(flow_.in_force(), manifest->version);
    const auto checked = hot ? check_hot(*manifest)
                             : check_in_the_way(what(*manifest), there, options,
                                                "when they have ended, --drain to wait for that, or --hot");
    if (!checked) return tl::unexpected(checked.error());
    if (options.dry_run) return 0;
    return start(upgrade::Start{kind, *manifest, *timeout * kNanosASecond, outside_.boot_id}, there.size());
}

Result<std::uint64_t> Upgrader::begin_mode(std::string_view mode, const UpgradeOptions& options) {
    const auto timeout = timeout_of(options, kColdTimeout);
    if (!timeout) return tl::unexpected(timeout.error());
    const auto to = model::parse_mode(mode);
    if (!to)
        return model::refuse(Refusal::Reason::invalid, "mode " + model::quote(mode), to.error(),
                             "none, memory or memory+compute");
    const auto name = "mode " + std::string(to_string(*to)) + " of the node";
    if (const auto idle = check_idle(name); !idle) return tl::unexpected(idle.error());
    if (flow_.mode() == *to)
        return model::refuse(Refusal::Reason::exists, name, "it is in force", "another mode");
    const auto from = mode_of_node();
    const auto there = in_the_way(from, *to);
    if (const auto checked =
            check_in_the_way(name, there, options, "when they have ended, or --drain to wait for that");
        !checked)
        return tl::unexpected(checked.error());
    if (options.dry_run) return 0;
    return start(upgrade::StartMode{from, *to, *timeout * kNanosASecond, outside_.boot_id}, there.size());
}

Result<std::uint64_t> Upgrader::start(const upgrade::Event& event, std::size_t in_the_way) {
    const auto before = flow_.status().id;
    happens(upgrade::Instances{in_the_way});
    happens(event);
    const auto id = flow_.status().id;
    if (id == before) return tl::unexpected(Refusal{Refusal::Reason::storage, save_trouble_});
    return id;
}

Result<std::uint32_t> Upgrader::timeout_of(const UpgradeOptions& options, std::uint32_t otherwise) {
    const auto timeout = options.timeout_s.value_or(otherwise);
    if (timeout != 0 && timeout <= kLongestTimeout) return timeout;
    return model::refuse(Refusal::Reason::invalid, "timeout " + std::to_string(timeout) + " s",
                         "it is out of range", "1 to " + std::to_string(kLongestTimeout));
}

Result<void> Upgrader::check_idle(const std::string& what) const {
    if (!flow_.under_way()) return {};
    const auto status = flow_.status();
    return model::refuse(Refusal::Reason::busy, what,
                         title_of(status.id, status.kind, status.from, status.to) + " is under way",
                         "when it is done (cgpuctl status), or cancel it (cgpuctl upgrade --cancel)");
}

Result<upgrade::Manifest> Upgrader::target(std::string_view version) {
    const auto parsed = upgrade::Version::parse(version);
    if (!parsed)
        return model::refuse(Refusal::Reason::invalid, "version " + model::quote(version),
                             "it is no version of a module", "one of `cgpuctl module list`, such as 1.2.3");
    const auto name = "upgrade to " + parsed->str();
    if (const auto idle = check_idle(name); !idle) return tl::unexpected(idle.error());
    if (*parsed == flow_.in_force())
        return model::refuse(Refusal::Reason::exists, name, "it is in force",
                             "another version of `cgpuctl module list`");
    return outside_.modules.verified(*parsed);
}

Result<void> Upgrader::check_hot(const upgrade::Manifest& target) {
    // Without it there would be no way back.
    const auto running = outside_.modules.verified(flow_.in_force());
    if (!running) return tl::unexpected(running.error());
    if (const auto why = upgrade::why_not_hot(*running, target))
        return model::refuse(Refusal::Reason::unsupported, what(target), *why,
                             "--cold, when no instance is there");
    const auto found = upgrade::objections(flow_.roster(), flow_.in_force(), target, outside_.modules.list());
    if (found.empty()) return {};
    return model::refuse(Refusal::Reason::unsupported, what(target),
                         "some processes can't go over while they run: " + list(found, "; "),
                         "when they have ended, or --cold, when no instance is there");
}

std::vector<model::InstanceId> Upgrader::in_the_way(const upgrade::Setting& from,
                                                    const upgrade::Setting& to) const {
    const auto* mode = std::get_if<model::Mode>(&to);
    std::vector<model::InstanceId> found;
    if (mode != nullptr && *mode >= std::get<model::Mode>(from)) return found;
    for (const auto& [id, instance] : outside_.instances())
        if (mode == nullptr || instance.mode > *mode) found.push_back(id);
    return found;
}

Result<void> Upgrader::check_in_the_way(const std::string& what,
                                        const std::vector<model::InstanceId>& instances,
                                        const UpgradeOptions& options, const char* remedy) const {
    if (instances.empty() || options.drain) return {};
    std::vector<std::string> names;
    names.reserve(instances.size());
    for (const auto& id : instances) names.push_back(id.short_id());
    return model::refuse(Refusal::Reason::busy, what, "instances are in the way: " + list(names, ", "),
                         remedy);
}

Result<void> Upgrader::cancel(std::uint64_t id, bool dry_run) {
    const auto name = "job " + std::to_string(id);
    if (!flow_.under_way() || flow_.status().id != id)
        return model::refuse(Refusal::Reason::not_found, name, "it is not under way", "cgpuctl status");
    if (!flow_.can_cancel())
        return model::refuse(Refusal::Reason::busy, name,
                             "it goes back already or is just being written down",
                             "wait for its end: cgpuctl status");
    if (!dry_run) happens(upgrade::Cancel{});
    return {};
}

}  // namespace cgpu::app
