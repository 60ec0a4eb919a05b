#include "daemon/app/upgrade/upgrader.hpp"

#include <utility>

#include "core/model/quote.hpp"
#include "daemon/app/ports/log.hpp"

namespace cgpu::app {
namespace {

constexpr std::uint32_t kHotTimeout = 60;    // seconds
constexpr std::uint32_t kColdTimeout = 600;  // seconds

constexpr std::string_view kConfigured = "configured";

/// Empty: it is a line of the log, and no more.
std::optional<EventType> type_of(const upgrade::Tell& tell, bool of_mode) {
    switch (tell.about) {
        case upgrade::Tell::About::step:
            return std::nullopt;
        case upgrade::Tell::About::begin:
            return of_mode ? EventType::mode_switch_begun : EventType::job_begun;
        case upgrade::Tell::About::back:
            return EventType::job_back;
        case upgrade::Tell::About::end:
            if (!of_mode) return EventType::job_ended;
            return tell.done ? EventType::mode_changed : EventType::mode_switch_failed;
        case upgrade::Tell::About::boot:
            return EventType::mode_changed;
    }
    return std::nullopt;
}

std::string what(const upgrade::Manifest& target) { return "upgrade to " + target.version.str(); }

}  // namespace

std::string engine_path(const upgrade::Version& version) {
    return version.str() + "/" + upgrade::engine_name(version);
}

Upgrader::Upgrader(upgrade::Record record, const upgrade::Version& own, Outside outside)
    : outside_(std::move(outside)),
      recorded_(record.in_force.has_value()),
      flow_(std::move(record), own),
      checks_(flow_, outside_.modules, outside_.instances),
      told_(flow_.status()),
      told_in_force_(flow_.in_force()),
      told_mode_(flow_.mode()) {}

void Upgrader::resume() {
    if (!recorded_) {
        upgrade::Record first;
        first.in_force = flow_.in_force();
        if (const auto saved = outside_.store.save(first); !saved) log::error("{}", saved.error().text);
    }
    look_at_module();
    instances_changed();
    happens(upgrade::Resume{outside_.boot_id});
}

Result<std::uint64_t> Upgrader::begin(upgrade::Kind kind, std::string_view version,
                                      const UpgradeOptions& options) {
    const bool hot = kind == upgrade::Kind::hot;
    const auto timeout = UpgradeChecks::timeout_of(options, hot ? kHotTimeout : kColdTimeout);
    if (!timeout) return tl::unexpected(timeout.error());
    if (options.drain && hot)
        return model::refuse(model::Refusal::Reason::invalid, "drain",
                             "a hot upgrade waits for no instance to end",
                             "use a cold upgrade, or leave drain out");
    const auto manifest = checks_.target(version);
    if (!manifest) return tl::unexpected(manifest.error());
    const auto there = checks_.in_the_way(flow_.in_force(), manifest->version);
    const auto checked = hot ? checks_.hot(*manifest)
                             : UpgradeChecks::nobody_in_the_way(
                                   what(*manifest), there, options,
                                   "wait until they have ended (--drain does that), or use --hot");
    if (!checked) return tl::unexpected(checked.error());
    if (options.dry_run) return 0;
    return start(upgrade::Start{kind, *manifest, *timeout * kSecond, outside_.boot_id}, there.size(),
                 options);
}

Result<std::uint64_t> Upgrader::begin_mode(std::string_view mode, const UpgradeOptions& options) {
    const auto timeout = UpgradeChecks::timeout_of(options, kColdTimeout);
    if (!timeout) return tl::unexpected(timeout.error());
    const bool configured = mode == kConfigured;
    const auto to = configured ? configured_mode_ : model::parse_mode(mode);
    if (!to)
        return model::refuse(model::Refusal::Reason::invalid, "mode " + model::quote(mode), to.error(),
                             "none, memory, memory+compute or configured");
    if (configured && options.until_reboot)
        return model::refuse(model::Refusal::Reason::invalid, "option \"runtime\"",
                             "the configuration's mode holds until another one is set", "leave it out");
    const auto name = configured ? std::string("the configured mode of the node")
                                 : "mode " + std::string(to_string(*to)) + " of the node";
    if (const auto idle = checks_.idle(name); !idle) return tl::unexpected(idle.error());
    const auto asked = configured ? std::nullopt : std::optional(*to);
    if (const auto is_one = is_a_change(name, asked, options.until_reboot); !is_one)
        return tl::unexpected(is_one.error());
    const auto from = mode_of_node();
    const auto there = in_the_way(from, *to, configured);
    if (const auto checked = UpgradeChecks::nobody_in_the_way(
            name, there, options, "wait until they have ended (--drain does that)");
        !checked)
        return tl::unexpected(checked.error());
    if (options.dry_run) return 0;
    return start(
        upgrade::StartMode{from, *to, *timeout * kSecond, outside_.boot_id, configured, options.until_reboot},
        there.size(), options);
}

/// `mode`: empty for the configured one.
Result<void> Upgrader::is_a_change(const std::string& name, std::optional<model::Mode> mode,
                                   bool until_reboot) const {
    // What holds until the reboot can be set for good, but not the other way round.
    const bool ends_otherwise = flow_.mode_until_reboot() && !until_reboot;
    if (flow_.mode() != mode || ends_otherwise) return {};
    if (!mode && modes_of_gpus_ != nullptr && !modes_of_gpus_->are_as_configured()) return {};
    return model::refuse(model::Refusal::Reason::exists, name, "it is in force", "choose another mode");
}

std::vector<model::InstanceId> Upgrader::in_the_way(const upgrade::Setting& from, const upgrade::Setting& to,
                                                    bool to_configured) const {
    if (to_configured && modes_of_gpus_ != nullptr) return modes_of_gpus_->in_the_way(flow_.mode());
    return checks_.in_the_way(from, to);
}

Result<std::uint64_t> Upgrader::start(const upgrade::Event& event, std::size_t in_the_way,
                                      const UpgradeOptions& options) {
    const auto before = flow_.status().id;
    happens(upgrade::Instances{in_the_way});
    asked_by_ = options.by;
    happens(event);
    asked_by_.reset();
    const auto id = flow_.status().id;
    if (id == before) return tl::unexpected(model::Refusal{model::Refusal::Reason::storage, save_trouble_});
    return id;
}

Result<void> Upgrader::cancel(std::uint64_t id, bool dry_run, std::optional<Who> by) {
    const auto name = "job " + std::to_string(id);
    if (!flow_.under_way() || flow_.status().id != id)
        return model::refuse(model::Refusal::Reason::not_found, name, "it is not under way",
                             "cgpuctl status");
    if (!flow_.can_cancel())
        return model::refuse(model::Refusal::Reason::busy, name,
                             "it goes back already or is just being written down",
                             "wait for its end: cgpuctl status");
    if (dry_run) return {};
    asked_by_ = by;
    happens(upgrade::Cancel{});
    asked_by_.reset();
    // The disk refused it. A hot upgrade goes back all the same.
    if (flow_.can_cancel())
        return tl::unexpected(model::Refusal{model::Refusal::Reason::storage, save_trouble_});
    return {};
}

std::string Upgrader::engine_for_new() const { return engine_path(flow_.for_new()); }

void Upgrader::lost(const upgrade::Lost& front) {
    happens(front);
    outside_.publisher.engines_changed(front.who.instance);
}

void Upgrader::gone(const upgrade::Gone& process) {
    happens(process);
    outside_.publisher.engines_changed(process.who.instance);
}

void Upgrader::said(const upgrade::Said& said) {
    happens(said);
    outside_.publisher.engines_changed(said.who.instance);
}

Result<void> Upgrader::open() const {
    if (!flow_.draining()) return {};
    const auto status = flow_.status();
    const bool mode = status.kind == upgrade::Kind::mode;
    return model::refuse(model::Refusal::Reason::busy, "new instances",
                         std::string(mode ? "the node's mode" : "the module") + " is being changed from " +
                             to_string(status.from) + " to " + to_string(status.to) +
                             ", and that waits for the instances that are there to end",
                         std::string("wait until it is done (cgpuctl status), end those that are in the way "
                                     "(cgpuctl stop), or cancel it (cgpuctl ") +
                             (mode ? "set-mode" : "upgrade") + " --cancel)");
}

void Upgrader::instances_changed() {
    const auto status = flow_.status();
    if (!flow_.under_way()) return;
    happens(upgrade::Instances{in_the_way(status.from, status.to, flow_.to_configured()).size()});
}

void Upgrader::set_configured_mode(model::Mode mode) {
    const bool in_force = !flow_.mode() && mode != configured_mode_;
    configured_mode_ = mode;
    if (in_force) outside_.publisher.mode_changed();
    // Others may be in the way of a switch to it.
    if (flow_.to_configured()) instances_changed();
}

void Upgrader::happens(const upgrade::Event& event) {
    events_.push_back(event);
    if (std::exchange(busy_, true)) return;
    while (!events_.empty()) {
        const auto next = events_.front();
        events_.pop_front();
        for (const auto& action : flow_.step(next, outside_.loop.now()))
            std::visit([this](const auto& wanted) { carry_out(wanted); }, action);
    }
    busy_ = false;
    const auto wake = flow_.wake(outside_.loop.now());
    timer_ = wake ? outside_.loop.at(*wake, [this] { happens(upgrade::Tick{}); }) : nullptr;
    tell_what_changed();
}

// The answers come before whatever else has happened meanwhile.

void Upgrader::carry_out(const upgrade::Save& save) {
    const bool take_modes = save.configured_modes_first && modes_of_gpus_ != nullptr;
    auto saved = take_modes ? modes_of_gpus_->take_configured() : Result<void>();
    if (saved) saved = outside_.store.save(save.record);
    save_trouble_ = saved ? "" : saved.error().text;
    events_.emplace_front(upgrade::Saved{save_trouble_});
}

void Upgrader::carry_out(const upgrade::Verify& verify) {
    auto verified = outside_.modules.verified(verify.version);
    if (verified)
        events_.emplace_front(upgrade::Verified{std::move(*verified)});
    else
        events_.emplace_front(upgrade::Verified{tl::unexpected(verified.error().text)});
}

void Upgrader::carry_out(const upgrade::Switch& order) {
    if (engines_ != nullptr) engines_->switch_engine(order, engine_path(order.to));
}

void Upgrader::carry_out(const upgrade::Over& over) { outside_.publisher.job_ended(over.ended); }

void Upgrader::carry_out(const upgrade::Tell& tell) {
    const auto level = tell.bad ? log::Level::warn : log::Level::info;
    const auto job = flow_.status();
    const auto type = type_of(tell, job.kind == upgrade::Kind::mode);
    if (!type) return log::line(level, tell.text);
    Event event{.type = *type, .level = level};
    event.message = tell.text;
    if (asked_by_ && event.message.ends_with('.')) event.message.pop_back();
    if (asked_by_) event.message += ", by " + describe(*asked_by_);
    event.by = asked_by_;
    if (tell.about == upgrade::Tell::About::boot) return outside_.events.happened(std::move(event));
    event.details = {{"job", job.id},
                     {"kind", std::string(to_string(job.kind))},
                     {"before", to_string(job.from)},
                     {"after", to_string(job.to)}};
    if (job.result) event.details["result"] = std::string(to_string(*job.result));
    outside_.events.happened(std::move(event));
}

void Upgrader::look_at_module() {
    installed_in_force_ = outside_.modules.verified(flow_.in_force()) ? flow_.in_force().str() : "";
}

void Upgrader::tell_what_changed() {
    if (auto status = flow_.status(); status != told_) {
        told_ = std::move(status);
        outside_.publisher.job_changed();
    }
    if (told_in_force_ != flow_.in_force()) {
        told_in_force_ = flow_.in_force();
        look_at_module();
        outside_.publisher.module_changed();
    }
    if (told_mode_ != flow_.mode()) {
        told_mode_ = flow_.mode();
        outside_.publisher.mode_changed();
    }
}

}  // namespace cgpu::app
