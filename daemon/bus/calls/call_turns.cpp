#include "daemon/bus/calls/call_turns.hpp"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <systemd/sd-bus.h>

#include <cstring>
#include <optional>
#include <string_view>

#include "daemon/bus/message/errors.hpp"
#include "daemon/bus/message/message_limits.hpp"
#include "dbus/names.hpp"

namespace cgpu::bus {
namespace {

/// What a message takes beside its text and values.
constexpr std::size_t kMessageBytes = 1024;
constexpr std::size_t kValueBytes = 8;

/// The answer to GetConnectionCredentials. Empty: it doesn't say the user, or is malformed.
std::optional<compat::Credentials> read_credentials(sd_bus_message* answer) {
    if (sd_bus_message_enter_container(answer, SD_BUS_TYPE_ARRAY, "{sv}") <= 0) return std::nullopt;
    std::optional<std::uint32_t> uid;
    std::uint32_t pid = 0;
    while (sd_bus_message_enter_container(answer, SD_BUS_TYPE_DICT_ENTRY, "sv") > 0) {
        const char* key = nullptr;
        if (sd_bus_message_read(answer, "s", &key) <= 0) return std::nullopt;
        const std::string_view name = key;
        std::uint32_t number = 0;
        if (name == "UnixUserID" || name == "ProcessID") {
            if (sd_bus_message_read(answer, "v", "u", &number) <= 0) return std::nullopt;
            if (name == "UnixUserID")
                uid = number;
            else
                pid = number;
        } else if (sd_bus_message_skip(answer, "v") < 0) {
            return std::nullopt;
        }
        if (sd_bus_message_exit_container(answer) < 0) return std::nullopt;
    }
    if (!uid) return std::nullopt;
    return compat::Credentials{*uid, static_cast<pid_t>(pid)};
}

}  // namespace

void CallTurns::Unref::operator()(sd_bus_message* message) const { sd_bus_message_unref(message); }
void CallTurns::Unref::operator()(sd_bus_slot* slot) const { sd_bus_slot_unref(slot); }

CallTurns::CallTurns(sdbus::IConnection& connection, Callers& callers) : callers_(callers) {
    const auto proxy = sdbus::createProxy(connection, compat::ServiceName(bus_names::kBus),
                                          sdbus::ObjectPath(bus_names::kBusPath));
    bus_ = compat::bus_of(*proxy);
    sd_bus_slot* slot = nullptr;
    const auto filter = [](sd_bus_message* message, void* turns, sd_bus_error*) {
        return static_cast<CallTurns*>(turns)->take_in(message);
    };
    const int added = sd_bus_add_filter(bus_, &slot, filter, this);
    if (added < 0)
        throw compat::make_error(bus_names::kFailed,
                                 std::string("a filter of messages: ") + std::strerror(-added));
    filter_.reset(slot);
}

CallTurns::~CallTurns() = default;

bool CallTurns::has_read_all_but(std::size_t bytes) const {
    std::uint64_t unwritten = 0;
    if (sd_bus_get_n_queued_write(bus_, &unwritten) < 0 || unwritten != 0) return false;
    int unread = 0;
    return ioctl(sd_bus_get_fd(bus_), SIOCOUTQ, &unread) < 0 || static_cast<std::size_t>(unread) <= bytes;
}

bool CallTurns::is_ready(model::Nanos now) const {
    return !let_through_ && waiting_.has_next(now) && has_read_all_but(kMostUnread);
}

bool CallTurns::let_through(model::Nanos now) {
    if (!is_ready(now)) return false;
    auto next = waiting_.next(now);
    if (!next) return false;  // it was the turn of who pauses from now on
    if (sd_bus_enqueue_for_read(bus_, next->get()) < 0) {
        turn_away(next->get(), "cgpud has no memory for it");
        return false;
    }
    let_through_ = std::move(*next);
    return true;
}

/// sd-bus calls it for each message, before it looks for the method. 1: nothing more is done about it now.
int CallTurns::take_in(sd_bus_message* message) {
    if (sd_bus_message_is_method_call(message, nullptr, nullptr) <= 0) return 0;
    if (message == let_through_.get()) {
        let_through_.reset();  // sd-bus keeps it
        return 0;
    }
    const char* sender = sd_bus_message_get_sender(message);
    const auto size = MessageLimits::size_of(message);
    if (sender == nullptr || !size || sd_bus_message_rewind(message, 1) < 0) return 1;
    const std::string name = sender;
    const char* path = sd_bus_message_get_path(message);
    Call call{Message(sd_bus_message_ref(message)), kMessageBytes + size->text + size->values * kValueBytes +
                                                        std::strlen(path != nullptr ? path : "")};
    const auto credentials = callers_.find(name);
    // Calls of one connection stay in their order, also those that came before it was forgotten.
    if (unknown_.contains(name) || !credentials)
        ask_for(name, std::move(call));
    else
        line_up(credentials->uid, std::move(call));
    return 1;
}

void CallTurns::ask_for(const std::string& name, Call call) {
    auto found = unknown_.find(name);
    const bool full = calls_of_unknown_ >= kMostOfAllUnknown ||
                      bytes_of_unknown_ + call.bytes > kMostBytesOfUnknown ||
                      (found != unknown_.end() && found->second.calls.size() >= kMostOfUnknown);
    if (full)
        return turn_away(call.message.get(), "too many others wait until the bus has said who sent them");
    if (found == unknown_.end()) {
        found = unknown_.emplace(name, Unknown{*this, name, {}, nullptr}).first;
        sd_bus_slot* slot = nullptr;
        const auto answered = [](sd_bus_message* answer, void* unknown, sd_bus_error*) {
            auto& its = *static_cast<Unknown*>(unknown);
            its.turns.learn(its, answer);
            return 1;
        };
        if (sd_bus_call_method_async(bus_, &slot, bus_names::kBus, bus_names::kBusPath, bus_names::kBus,
                                     "GetConnectionCredentials", answered, &found->second, "s",
                                     name.c_str()) < 0) {
            unknown_.erase(found);
            return turn_away(call.message.get(), "the bus can't be asked who sent it");
        }
        found->second.question.reset(slot);
    }
    ++calls_of_unknown_;
    bytes_of_unknown_ += call.bytes;
    found->second.calls.push_back(std::move(call));
}

void CallTurns::learn(Unknown& unknown, sd_bus_message* answer) {
    std::deque<Call> calls = std::move(unknown.calls);
    const std::string name = unknown.name;
    unknown_.erase(name);
    calls_of_unknown_ -= calls.size();
    for (const Call& call : calls) bytes_of_unknown_ -= call.bytes;
    const auto credentials =
        sd_bus_message_is_method_error(answer, nullptr) > 0 ? std::nullopt : read_credentials(answer);
    if (!credentials) return;  // the connection is gone, and nobody would get an answer
    callers_.add(name, *credentials);
    for (Call& call : calls) line_up(credentials->uid, std::move(call));
}

void CallTurns::line_up(uid_t user, Call call) {
    if (waiting_.add(user, call.bytes, std::move(call.message))) return;
    turn_away(call.message.get(),
              "too many others of user id " + std::to_string(user) + " wait for an answer");
}

void CallTurns::turn_away(sd_bus_message* message, const std::string& why) {
    if (too_many_) too_many_();
    if (!has_read_all_but(kMostUnreadRefusals)) return;
    const auto text = "the call: " + why + ". Try: try the same again when they have been answered.";
    sd_bus_reply_method_errorf(message, error_name(model::Refusal::Reason::busy).c_str(), "%s", text.c_str());
}

}  // namespace cgpu::bus
