#include "daemon/app/upgrade/upgrade_checks.hpp"

#include "core/model/quote.hpp"
#include "core/model/similar.hpp"
#include "core/upgrade/compatible.hpp"
#include "core/upgrade/objections.hpp"

namespace cgpu::app {
namespace {

using model::Refusal;

constexpr std::uint32_t kLongestTimeout = 86400;  // seconds
/// At most this many are named in a refusal, which is one line.
constexpr std::size_t kMostNamed = 8;

std::string list(const std::vector<std::string>& items, const char* between) {
    std::string text;
    for (std::size_t i = 0; i < items.size() && i < kMostNamed; ++i)
        text += (i == 0 ? "" : between) + items[i];
    if (items.size() > kMostNamed) text += between + std::to_string(items.size() - kMostNamed) + " more";
    return text;
}

/// Another installed version whose number is the most similar, and that is not in force; empty: none is.
std::string likely_version(const std::string& written, const std::vector<upgrade::Manifest>& installed,
                           const upgrade::Version& in_force) {
    std::vector<std::string> versions;
    for (const auto& manifest : installed)
        if (manifest.version != in_force && manifest.version.str() != written)
            versions.push_back(manifest.version.str());
    return std::string(model::most_similar(written, {versions.begin(), versions.end()}));
}

}  // namespace

Result<std::uint32_t> UpgradeChecks::timeout_of(const UpgradeOptions& options, std::uint32_t otherwise) {
    const auto timeout = options.timeout_s.value_or(otherwise);
    if (timeout != 0 && timeout <= kLongestTimeout) return timeout;
    return model::refuse(Refusal::Reason::invalid, "timeout " + std::to_string(timeout) + " s",
                         "it is out of range", "1 to " + std::to_string(kLongestTimeout));
}

Result<void> UpgradeChecks::idle(const std::string& what) const {
    if (!flow_.under_way()) return {};
    const auto status = flow_.status();
    return model::refuse(Refusal::Reason::busy, what,
                         title_of(status.id, status.kind, status.from, status.to) + " is under way",
                         "wait until it is done (cgpuctl status), or cancel it (cgpuctl upgrade --cancel)");
}

Result<upgrade::Manifest> UpgradeChecks::target(std::string_view version) const {
    const auto parsed = upgrade::Version::parse(version);
    if (!parsed)
        return model::refuse(Refusal::Reason::invalid, "version " + model::quote(version),
                             "it is no version of a module",
                             "use a version of `cgpuctl module list`, such as 1.2.3");
    const auto name = "upgrade to " + parsed->str();
    if (const auto checked = idle(name); !checked) return tl::unexpected(checked.error());
    if (*parsed == flow_.in_force())
        return model::refuse(Refusal::Reason::exists, name, "it is in force",
                             "use another version of `cgpuctl module list`");
    auto verified = modules_.verified(*parsed);
    if (verified || verified.error().reason != Refusal::Reason::not_found) return verified;
    // The reason stays as it is: the folder may be there, and its manifest missing.
    constexpr std::string_view kTry = ". Try: ";
    model::Refusal refusal = verified.error();
    const auto likely = likely_version(parsed->str(), modules_.list(), flow_.in_force());
    const auto remedy = refusal.text.find(kTry);
    if (!likely.empty() && remedy != std::string::npos)
        refusal.text.insert(remedy + kTry.size(), "use " + likely + " if that is meant, or ");
    return tl::unexpected(std::move(refusal));
}

Result<void> UpgradeChecks::hot(const upgrade::Manifest& target) const {
    // Without a valid bundle of the running version there would be no way back.
    const auto running = modules_.verified(flow_.in_force());
    if (!running) return tl::unexpected(running.error());
    if (const auto why = upgrade::why_not_hot(*running, target))
        return model::refuse(Refusal::Reason::unsupported, "upgrade to " + target.version.str(), *why,
                             "use --cold while there is no instance");
    const auto found = upgrade::objections(flow_.roster(), flow_.in_force(), target, modules_.list());
    if (found.empty()) return {};
    return model::refuse(Refusal::Reason::unsupported, "upgrade to " + target.version.str(),
                         "some processes can't go over while they run: " + list(found, "; "),
                         "wait until they have ended, or use --cold while there is no instance");
}

std::vector<model::InstanceId> UpgradeChecks::in_the_way(const upgrade::Setting& from,
                                                         const upgrade::Setting& to) const {
    const auto* mode = std::get_if<model::Mode>(&to);
    std::vector<model::InstanceId> found;
    if (mode != nullptr && *mode >= std::get<model::Mode>(from)) return found;
    for (const auto& [id, instance] : instances_())
        if (mode == nullptr || instance.mode > *mode) found.push_back(id);
    return found;
}

Result<void> UpgradeChecks::nobody_in_the_way(const std::string& what,
                                              const std::vector<model::InstanceId>& instances,
                                              const UpgradeOptions& options, const char* remedy) {
    if (instances.empty() || options.drain) return {};
    std::vector<std::string> names;
    names.reserve(instances.size());
    for (const auto& id : instances) names.push_back(id.short_id());
    return model::refuse(Refusal::Reason::busy, what, "instances are in the way: " + list(names, ", "),
                         remedy);
}

}  // namespace cgpu::app
