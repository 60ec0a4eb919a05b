#include "client/runtime/create.hpp"

#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include <unistd.h>

#include "client/runtime/call/asked.hpp"
#include "client/runtime/call/device_choice.hpp"
#include "client/runtime/call/hook_log.hpp"
#include "client/runtime/chain/next_runtime.hpp"
#include "client/runtime/nvidia/nvidia_settings.hpp"
#include "client/runtime/oci/edit_bundle.hpp"
#include "client/runtime/oci/engine_record.hpp"
#include "client/runtime/oci/gpu_minors.hpp"
#include "client/runtime/unmanaged.hpp"

namespace cgpu::runtime {
namespace {

Result<void> write_grant(OciBundle& bundle, const Invocation& invocation, const std::string& program,
                         const client::Created& created, std::vector<client::Gpu> gpus) {
    const char* bus = std::getenv("DBUS_SYSTEM_BUS_ADDRESS");
    const Edit edit{invocation.id,
                    program,
                    bus == nullptr ? "" : bus,
                    created,
                    std::move(gpus),
                    hook_log_argument(invocation),
                    may_get_gpus_later(bundle),
                    must_use_volumes(nvidia_settings(), bundle)};
    if (auto edited = edit_bundle(bundle, edit); !edited) return edited;
    return bundle.write();
}

/// The engine connects the container's stderr to the calls that create it, but where the container has a
/// terminal: so the warnings are the first lines that `docker run` and `docker logs` show of it.
void tell(const std::vector<std::string>& warnings) {
    std::string text;
    for (const std::string& warning : warnings) text += "cgpu: warning: " + warning + "\n";
    if (text.empty()) return;
    // Nobody may be reading. The next runtime gets the signal's former disposition back.
    const auto former = std::signal(SIGPIPE, SIG_IGN);
    (void)!write(STDERR_FILENO, text.data(), text.size());
    (void)std::signal(SIGPIPE, former);
}

}  // namespace

Result<bool> prepare(const Invocation& invocation, const std::string& program, client::Node& node) {
    auto bundle = OciBundle::read(invocation.bundle);
    if (!bundle) return tl::unexpected(bundle.error());
    auto variables = asked_by(*bundle);
    if (!variables) return tl::unexpected(variables.error());
    const auto unmanaged = [&] {
        return take_in_unmanaged(*bundle, invocation, program, node).map([] { return false; });
    };
    if (variables->empty()) return unmanaged();
    auto gpus = node.read_gpus();
    if (!gpus) return tl::unexpected(gpus.error());
    auto chosen = choose_by_devices(*variables, *bundle, *gpus, read_gpu_minors(*gpus));
    if (!chosen) {
        gpus = read_gpus_again(node, *gpus);
        if (!gpus) return tl::unexpected(gpus.error());
        chosen = choose_by_devices(*variables, *bundle, *gpus, read_gpu_minors(*gpus));
    }
    if (!chosen) return tl::unexpected(chosen.error());

    const std::string& id = invocation.id;
    // An earlier container of this id may just be ending (docker restart): the node waits for that.
    auto [name, image] = engine_record(*bundle, id);
    const auto created = node.create_instance({id, std::move(name), std::move(image), *variables});
    if (!created) return tl::unexpected(created.error());
    if (created->quotas.empty()) return unmanaged();
    // The node may have found them only for this request.
    if (!knows_all(*gpus, created->quotas)) gpus = node.read_gpus();
    if (!gpus) {
        (void)node.release_instance(id);
        return tl::unexpected(gpus.error());
    }
    if (auto written = write_grant(*bundle, invocation, program, *created, std::move(*gpus)); !written) {
        (void)node.release_instance(id);
        return tl::unexpected(written.error());
    }
    tell(created->warnings);
    return true;
}

}  // namespace cgpu::runtime
