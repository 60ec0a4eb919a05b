#include "daemon/bus/authority/authority.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "daemon/app/ports/log.hpp"
#include "dbus/names.hpp"

namespace cgpu::bus {
namespace {

// polkit's Authority, by its public interface (polkit(8), org.freedesktop.PolicyKit1.Authority).
constexpr const char* kPolkit = "org.freedesktop.PolicyKit1";
constexpr const char* kPolkitPath = "/org/freedesktop/PolicyKit1/Authority";
constexpr const char* kPolkitInterface = "org.freedesktop.PolicyKit1.Authority";
constexpr std::uint32_t kAllowUserInteraction = 1;
/// The subject is identified by its connection: a pid could belong to another process when polkit looks it
/// up.
constexpr const char* kSubjectKind = "system-bus-name";

using Subject = sdbus::Struct<std::string, std::map<std::string, sdbus::Variant>>;
using Details = std::map<std::string, std::string>;
using Verdict = sdbus::Struct<bool, bool, Details>;  // authorized, could be by a password, details

constexpr const char* kAsRoot = "do the same as root (sudo)";
/// Where an administrator allows an action, as the documentation has it.
constexpr const char* kRules = "/etc/polkit-1/rules.d/50-cgpu.rules";
constexpr const char* kManual = "/usr/share/doc/cgpu/cgpuctl.md";

/// What is refused, for people.
const char* described(Action action) {
    switch (action) {
        case Action::run:
            return "running a job on a part of a GPU";
        case Action::manage_own:
            return "changing an own instance";
        case Action::manage_instance:
            return "changing an instance";
        case Action::manage_policy:
            return "changing the settings of a GPU";
        case Action::trace:
            return "tracing a GPU";
        case Action::upgrade_module:
            return "changing the module or the mode";
    }
    return "this";
}

tl::unexpected<model::Refusal> refuse(Action action, const std::string& why,
                                      const std::string& remedy = kAsRoot) {
    return model::refuse(model::Refusal::Reason::not_permitted, described(action), why, remedy);
}

std::string user(const compat::Caller& caller) { return "user id " + std::to_string(caller.uid); }

std::string allow(Action action) {
    return std::string(kAsRoot) + ", or let an administrator allow " + std::string(id_of(action)) +
           " to that user in " + kRules + " (" + kManual + " has an example)";
}

app::Result<void> judge(const Verdict& verdict, Action action, const compat::Caller& caller) {
    if (verdict.get<0>()) return {};
    const std::string id(id_of(action));
    if (!verdict.get<1>())
        return refuse(action, user(caller) + " may not: polkit doesn't allow " + id + " to that user",
                      allow(action));
    const std::string password =
        user(caller) + " may not without an administrator's password (polkit's " + id + "), and ";
    if (!caller.interactive)
        return refuse(action, password + "the caller can't be asked for it", allow(action));
    return refuse(action, password + "no polkit agent runs that asks for it",
                  allow(action) + ", or start an agent (pkttyagent)");
}

/// No service owns the name, and none can be started for it: polkit isn't installed, or its unit is masked.
bool is_absent(const std::string& error) {
    if (error.starts_with(std::string(bus_names::kSystemd) + ".")) return true;
    constexpr std::array kAbsent = {"ServiceUnknown", "NameHasNoOwner", "Spawn."};
    const std::string prefix(bus_names::kBusErrors);
    return std::any_of(kAbsent.begin(), kAbsent.end(),
                       [&](const char* name) { return error.starts_with(prefix + name); });
}

bool is_no_reply(const std::string& error) {
    return error == "org.freedesktop.DBus.Error.NoReply" || error == "org.freedesktop.DBus.Error.Timeout" ||
           error == "System.Error.ETIMEDOUT";
}

app::Result<void> left(Action action, const compat::Caller& caller) {
    return refuse(action, "the caller, " + user(caller) + ", left the bus before polkit knew it",
                  "stay connected to the bus until the answer comes");
}

app::Result<void> unanswered(const sdbus::Error& error, Action action, const compat::Caller& caller) {
    const std::string& name = error.getName();
    // polkit passes on what the bus says of the caller.
    if (name == "org.freedesktop.DBus.Error.NameHasNoOwner" &&
        error.getMessage().find("'" + caller.name + "'") != std::string::npos)
        return left(action, caller);
    if (is_absent(name))
        return refuse(action,
                      "only root may where there is no polkit to ask, and the caller has " + user(caller),
                      std::string(kAsRoot) + ", or install polkitd, and allow " + std::string(id_of(action)) +
                          " in " + kRules);
    if (is_no_reply(name))
        return refuse(action, "polkit was asked about " + user(caller) + " and gave no answer");
    log::warn("polkit: {} ({})", error.getMessage(), name);
    return refuse(action, "polkit could not be asked about " + user(caller) + ": " + error.getMessage(),
                  std::string(kAsRoot) + ", and read polkit's log (journalctl -u polkit)");
}

}  // namespace

Authority::Authority(sdbus::IConnection& connection, Callers& callers, Patience patience)
    : callers_(callers),
      patience_(patience),
      polkit_(sdbus::createProxy(connection, compat::ServiceName(kPolkit), sdbus::ObjectPath(kPolkitPath))),
      bus_(sdbus::createProxy(connection, compat::ServiceName(bus_names::kBus),
                              sdbus::ObjectPath(bus_names::kBusPath))) {}

Authority::~Authority() = default;

app::Result<void> Authority::room_for(Action action, const compat::Caller& caller) const {
    std::size_t all = 0;
    for (const auto& [uid, count] : open_) all += count;
    const auto own = open_.find(caller.uid);
    if (all < kMostOfAll && (own == open_.end() || own->second < kMostOfUser)) return {};
    return model::refuse(model::Refusal::Reason::try_again, described(action),
                         "polkit is being asked about too many others (" +
                             (all < kMostOfAll ? "of " + user(caller) : "of all users") + ")",
                         "try the same again in a while");
}

void Authority::closed(uid_t user) {
    if (const auto own = open_.find(user); own != open_.end() && --own->second == 0) open_.erase(own);
}

void Authority::ask(Action action, const compat::Caller& caller, const Answer& answer) {
    if (caller.uid == 0) return answer({});
    if (const auto room = room_for(action, caller); !room) return answer(room);
    const Subject subject{kSubjectKind, {{"name", sdbus::Variant(caller.name)}}};
    const std::string question = std::to_string(getpid()) + "-" + std::to_string(++last_question_);
    const auto replied = [this, action, caller, question, answer](compat::MaybeError error,
                                                                  const Verdict& verdict) {
        const auto judged = error ? unanswered(*error, action, caller) : judge(verdict, action, caller);
        if (error && is_no_reply(error->getName())) give_up(question);
        if (!error && !judged) return refuse_if_there(judged, action, caller, answer);
        closed(caller.uid);
        answer(judged);
    };
    try {
        polkit_->callMethodAsync("CheckAuthorization")
            .onInterface(kPolkitInterface)
            .withTimeout(caller.interactive ? patience_.interactive : patience_.quiet)
            .withArguments(subject, std::string(id_of(action)), Details(),
                           caller.interactive ? kAllowUserInteraction : 0U, question)
            .uponReplyInvoke(replied);
        ++open_[caller.uid];
    } catch (const sdbus::Error& error) {
        answer(unanswered(error, action, caller));
    }
}

void Authority::refuse_if_there(const app::Result<void>& refused, Action action, const compat::Caller& caller,
                                const Answer& answer) {
    const auto replied = [this, refused, action, caller, answer](compat::MaybeError error, bool there) {
        closed(caller.uid);
        answer(error || there ? refused : left(action, caller));
    };
    try {
        bus_->callMethodAsync("NameHasOwner")
            .onInterface(bus_names::kBus)
            .withArguments(caller.name)
            .uponReplyInvoke(replied);
    } catch (const sdbus::Error&) {
        closed(caller.uid);
        answer(refused);
    }
}

app::Result<void> Authority::about(std::string_view what, std::string_view instead,
                                   app::Result<void> answer) {
    if (answer) return answer;
    auto& refusal = answer.error();
    if (const auto whole = refusal.text.find(": "); whole != std::string::npos)
        refusal.text.replace(0, whole, what);
    model::also_try(refusal, instead);
    return answer;
}

void Authority::ask_for_all(std::vector<Action> actions, const compat::Caller& caller, const Answer& answer) {
    if (actions.empty()) return answer({});
    const Action next = actions.front();
    actions.erase(actions.begin());
    ask(next, caller, [this, actions, caller, answer](const app::Result<void>& permitted) {
        if (!permitted) return answer(permitted);
        ask_for_all(actions, caller, answer);
    });
}

void Authority::give_up(const std::string& question) {
    // Otherwise the agent would keep asking for a password that is no longer needed.
    try {
        polkit_->callMethod("CancelCheckAuthorization")
            .onInterface(kPolkitInterface)
            .withArguments(question)
            .dontExpectReply();
    } catch (const sdbus::Error& error) {
        log::debug("polkit: {}", error.getMessage());
    }
}

}  // namespace cgpu::bus
