#include "daemon/bus/message/errors.hpp"

#include "core/model/utf8.hpp"
#include "daemon/app/ports/log.hpp"
#include "dbus/names.hpp"

namespace cgpu::bus {
namespace {

using Reason = model::Refusal::Reason;

std::string_view suffix(Reason reason) {
    switch (reason) {
        case Reason::invalid:
            return "Invalid";
        case Reason::not_found:
            return "NotFound";
        case Reason::exists:
            return "Exists";
        case Reason::busy:
            return "Busy";
        case Reason::no_space:
            return "NoSpace";
        case Reason::no_memory:
            return "NoMemory";
        case Reason::not_permitted:
            return "NotAuthorized";
        case Reason::unsupported:
            return "Unsupported";
        case Reason::try_again:
            return "TryAgain";
        case Reason::storage:
            return "Storage";
        case Reason::changed:
            return "Changed";
    }
    return "Internal";
}

}  // namespace

std::string error_name(model::Refusal::Reason reason) {
    return std::string(bus_names::kErrors) + std::string(suffix(reason));
}

std::optional<Reason> reason_of(std::string_view name) {
    for (const auto reason : {Reason::invalid, Reason::not_found, Reason::exists, Reason::busy,
                              Reason::no_space, Reason::no_memory, Reason::not_permitted, Reason::unsupported,
                              Reason::try_again, Reason::storage, Reason::changed})
        if (name == error_name(reason)) return reason;
    return std::nullopt;
}

sdbus::Error to_bus_error(const model::Refusal& refusal) {
    return compat::make_error(error_name(refusal.reason), model::valid_utf8(refusal.text));
}

sdbus::Error internal_error(std::string_view method, std::string_view what) {
    log::error("{}: {}", method, what);
    return compat::make_error(
        std::string(bus_names::kErrors) + "Internal",
        std::string(method) + ": the daemon failed. Try: read its log (journalctl -u cgpud).");
}

}  // namespace cgpu::bus
