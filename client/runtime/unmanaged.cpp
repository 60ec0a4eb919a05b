#include "client/runtime/unmanaged.hpp"

#include <cstdlib>
#include <filesystem>

#include "client/runtime/call/hook_log.hpp"
#include "client/runtime/call/unmanaged_gpus.hpp"
#include "client/runtime/chain/next_runtime.hpp"
#include "client/runtime/oci/edit_bundle.hpp"
#include "client/runtime/oci/engine_record.hpp"

namespace cgpu::runtime {
namespace {

Result<bool> admit(const OciBundle& bundle, const std::string& id, client::Node& node) {
    const auto gpus = node.read_gpus();
    if (!gpus) return tl::unexpected(gpus.error());
    return node.admit_unmanaged(id, engine_record(bundle, id).name,
                                unmanaged_gpus(bundle, read_gpu_minors(*gpus)));
}

}  // namespace

Result<void> take_in_unmanaged(OciBundle& bundle, const Invocation& invocation, const std::string& program,
                               client::Node& node, const std::string& rule) {
    if (!gets_unmanaged_gpus(bundle, next_runtime_brings_gpus)) return {};
    const auto booked = admit(bundle, invocation.id, node);
    std::error_code none;
    const bool decides = (!booked && booked.error().kind == client::ClientError::Kind::refused) ||
                         std::filesystem::exists(rule, none);
    if (!booked && decides) return tl::unexpected(booked.error());
    if (!booked) return {};
    const char* bus = std::getenv("DBUS_SYSTEM_BUS_ADDRESS");
    add_attach_hook(
        bundle, {invocation.id, program, bus == nullptr ? "" : bus, {}, {}, hook_log_argument(invocation)},
        *booked);
    return bundle.write();
}

}  // namespace cgpu::runtime
