#include "client/node/remote_host.hpp"

#include <algorithm>
#include <string_view>

#include "core/model/quote.hpp"
#include "dbus/names.hpp"

namespace cgpu::client {
namespace {

bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._-[]:%").find(c) != std::string_view::npos;
}

std::string why_bad(std::string_view host) {
    if (host.empty()) return "the name is empty";
    if (host.front() == '-') return "ssh would take it for an option";
    const auto at = host.find('@');
    const auto user = at == std::string_view::npos ? std::string_view("user") : host.substr(0, at);
    const auto machine = at == std::string_view::npos ? host : host.substr(at + 1);
    if (user.empty()) return "the user's name before @ is empty";
    if (machine.empty()) return "the machine's name after @ is empty";
    if (machine.front() == '-' || !std::ranges::all_of(user, is_plain) ||
        !std::ranges::all_of(machine, is_plain))
        return "it is no name of a machine";
    return {};
}

}  // namespace

Result<void> check_host(const std::string& host) {
    const std::string why = why_bad(host);
    if (why.empty()) return {};
    return fail(ClientError::Kind::usage,
                "host " + model::quote(host) + ": " + why + ". Try: --host user@machine, as for ssh.");
}

std::unique_ptr<sdbus::IConnection> connect_to_host(const std::string& host) {
    try {
        return sdbus::createRemoteSystemBusConnection(host);
    } catch (const sdbus::Error& error) {
        throw compat::make_error(std::string(bus_names::kErrors) + "Unreachable",
                                 host + ": its system bus can't be reached over ssh (" + error.getMessage() +
                                     "). Try: ssh " + host +
                                     " systemd-stdio-bridge --help, which must work without a question.");
    }
}

}  // namespace cgpu::client
