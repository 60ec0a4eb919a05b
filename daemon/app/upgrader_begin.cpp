// What is checked before an upgrade begins.
#include <utility>

#include "core/model/quote.hpp"
#include "core/upgrade/compatible.hpp"
#include "core/upgrade/objections.hpp"
#include "daemon/app/upgrader.hpp"

namespace cgpu::app {
namespace {

using model::Refusal;

constexpr std::uint32_t kHotTimeout = 60;    // seconds
constexpr std::uint32_t kColdTimeout = 600;  // seconds
constexpr std::uint32_t kLongestTimeout = 86400;
constexpr upgrade::Nanos kSecond = 1'000'000'000;
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
    const auto timeout = options.timeout_s.value_or(kind == upgrade::Kind::hot ? kHotTimeout : kColdTimeout);
    if (timeout == 0 || timeout > kLongestTimeout)
        return model::refuse(Refusal::Reason::invalid, "timeout " + std::to_string(timeout) + " s",
                             "it is out of range", "1 to " + std::to_string(kLongestTimeout));
    if (options.drain && kind == upgrade::Kind::hot)
        return model::refuse(Refusal::Reason::invalid, "drain", "a hot upgrade waits for no instance to end",
                             "a cold upgrade, or without it");
    const auto manifest = target(version);
    if (!manifest) return tl::unexpected(manifest.error());
    const auto checked = kind == upgrade::Kind::hot ? check_hot(*manifest) : check_cold(*manifest, options);
    if (!checked) return tl::unexpected(checked.error());
    if (options.dry_run) return 0;
    const auto before = flow_.status().id;
    happens(upgrade::Start{kind, *manifest, timeout * kSecond, outside_.boot_id});
    const auto id = flow_.status().id;
    if (id == before) return tl::unexpected(Refusal{Refusal::Reason::storage, save_trouble_});
    return id;
}

Result<upgrade::Manifest> Upgrader::target(std::string_view version) {
    const auto parsed = upgrade::Version::parse(version);
    if (!parsed)
        return model::refuse(Refusal::Reason::invalid, "version " + model::quote(version),
                             "it is no version of a module", "one of `cgpuctl module list`, such as 1.2.3");
    if (flow_.under_way()) {
        const auto status = flow_.status();
        return model::refuse(Refusal::Reason::busy, "upgrade to " + parsed->str(),
                             "upgrade " + std::to_string(status.id) + " (" +
                                 std::string(to_string(status.kind)) + ", " + status.from.str() + " to " +
                                 status.to.str() + ") is under way",
                             "when it is done (cgpuctl status), or cancel it (cgpuctl upgrade --cancel)");
    }
    if (*parsed == flow_.in_force())
        return model::refuse(Refusal::Reason::exists, "upgrade to " + parsed->str(), "it is in force",
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

Result<void> Upgrader::check_cold(const upgrade::Manifest& target, const UpgradeOptions& options) {
    const auto instances = outside_.instances();
    if (instances.empty() || options.drain) return {};
    std::vector<std::string> names;
    names.reserve(instances.size());
    for (const auto& id : instances) names.push_back(id.short_id());
    return model::refuse(Refusal::Reason::busy, what(target),
                         "instances are in the way: " + list(names, ", "),
                         "when they have ended, --drain to wait for that, or --hot");
}

Result<void> Upgrader::cancel(std::uint64_t id, bool dry_run) {
    const auto name = "upgrade " + std::to_string(id);
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
