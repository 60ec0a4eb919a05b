#include "daemon/bus/authority.hpp"

#include "daemon/bus/errors.hpp"

namespace cgpu::bus {

using Reason = model::Refusal::Reason;

app::Result<void> may_change(const compat::Credentials& caller) {
    if (caller.uid == 0) return {};
    return model::refuse(Reason::not_permitted, "this change",
                         "only root may, and the caller's user id is " + std::to_string(caller.uid),
                         "the same as root (sudo)");
}

compat::Credentials caller_of(const sdbus::IObject& object) {
    try {
        return compat::caller_of(object);
    } catch (const sdbus::Error& error) {
        throw to_bus_error(model::make_refusal(Reason::not_permitted, "this change",
                                               "the bus does not know the caller: " + error.getMessage(),
                                               "again, and stay connected until the answer comes"));
    }
}

}  // namespace cgpu::bus
