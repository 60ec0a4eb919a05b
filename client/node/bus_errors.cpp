#include "client/node/bus_errors.hpp"

#include <algorithm>
#include <array>

#include "dbus/names.hpp"

namespace cgpu::client {
namespace {

using Kind = ClientError::Kind;

/// libsystemd's errors for an errno: the socket of the bus doesn't exist, or the connection breaks.
constexpr std::string_view kSystem = "System.Error.";

/// The name org.cgpu1 has no owner, none could be started, or it disappeared during the call.
constexpr std::array<std::string_view, 12> kAbsent = {
    "ServiceUnknown",   "NameHasNoOwner",    "NoServer",     "NoReply",
    "Disconnected",     "Timeout",           "FileNotFound", "TimedOut",
    "Spawn.ExecFailed", "Spawn.ChildExited", "Spawn.Failed", "Spawn.ServiceNotFound",
};

Kind kind_of_ours(std::string_view suffix) {
    if (suffix == "NotFound") return Kind::not_found;
    if (suffix == "NotAuthorized") return Kind::not_authorized;
    if (suffix == "Internal") return Kind::failed;
    if (suffix == "TryAgain") return Kind::try_again;
    if (suffix == "Unreachable") return Kind::unreachable;  // our own, of a remote bus
    return Kind::refused;
}

ClientError unreachable(std::string_view why) {
    return {Kind::unreachable,
            "cgpud: it does not answer on the system bus (" + std::string(why) +
                "). Try: systemctl start cgpud, and journalctl -u cgpud if it does not stay up."};
}

}  // namespace

bool is_no_room(std::string_view name) {
    return name.starts_with(bus_names::kBusErrors) &&
           name.substr(bus_names::kBusErrors.size()) == "LimitsExceeded";
}

ClientError from_bus(std::string_view name, std::string_view text) {
    if (name.starts_with(bus_names::kErrors)) {
        const std::string_view reason = name.substr(bus_names::kErrors.size());
        return {kind_of_ours(reason), std::string(text), std::string(reason)};
    }
    if (name.starts_with(kSystem)) return unreachable(text);
    if (name.starts_with(bus_names::kBusErrors)) {
        const std::string_view suffix = name.substr(bus_names::kBusErrors.size());
        if (std::find(kAbsent.begin(), kAbsent.end(), suffix) != kAbsent.end()) return unreachable(text);
        if (suffix == "AccessDenied")
            return {Kind::not_authorized, "cgpud: the system bus forbids the call (" + std::string(text) +
                                              "). Try: do the same as root (sudo)."};
        if (is_no_room(name))
            return {Kind::failed, "cgpud: the system bus takes no more of this user now (" +
                                      std::string(text) +
                                      "). Try: end some of the user's programs that are connected to it "
                                      "(busctl list)."};
        if (suffix == "UnknownObject")
            return {Kind::not_found, "cgpud: it is not there any more. Try: cgpuctl list."};
        if (suffix == "UnknownMethod" || suffix == "UnknownInterface")
            return {Kind::failed,
                    "cgpud: it does not know this call (" + std::string(text) +
                        "). Try: use the cgpuctl of the same version (cgpuctl --version, cgpuctl status)."};
    }
    return {Kind::failed, "cgpud: " + std::string(text) + " (" + std::string(name) +
                              "). Try: read its log (journalctl -u cgpud)."};
}

}  // namespace cgpu::client
