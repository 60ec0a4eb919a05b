// cgpu-runtime-managed: cgpu-runtime executes it with the same arguments if cgpud must be called: to create a
// container that requests a part of a GPU or gets GPUs without that, and in hooks, to attach one.
#include <exception>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "client/node/bus_node.hpp"
#include "client/runtime/call/hook_log.hpp"
#include "client/runtime/call/refusal.hpp"
#include "client/runtime/cdi_attach.hpp"
#include "client/runtime/chain/low_level_runtime.hpp"
#include "client/runtime/chain/next_runtime.hpp"
#include "client/runtime/chain/programs.hpp"
#include "client/runtime/create.hpp"
#include "client/runtime/hooks/attach_hook.hpp"
#include "client/runtime/hooks/check_hook.hpp"
#include "client/runtime/hooks/container_state.hpp"
#include "client/runtime/oci/own_hook.hpp"
#include "client/runtime/unmanaged.hpp"

namespace cgpu::runtime {
namespace {

/// A managed container that may have got other GPUs than it was granted doesn't start with them.
Result<void> check_and_attach(const std::string& id, const KnownGpus& granted, client::Node& node) {
    const std::string state(std::istreambuf_iterator<char>(std::cin), {});
    std::istringstream text(state);
    if (const auto container = read_container_state(text))
        if (auto checked = check_granted_gpus(*container, granted); !checked) return checked;
    // A state that can't be read is refused here.
    std::istringstream again(state);
    return attach_hook(id, again, node);
}

/// `arguments`: hook attach ID, with `if-possible` or the granted GPUs, and the log.
int attach_main(std::vector<std::string> arguments) {
    const HookLog log = take_hook_log(arguments);
    const auto granted = KnownGpus::read(arguments.size() == 4 ? arguments[3] : "");
    const bool must_succeed = arguments.size() == 3 || granted;
    client::BusNode node;
    const auto done =
        granted ? check_and_attach(arguments[2], *granted, node) : attach_hook(arguments[2], std::cin, node);
    if (done || !must_succeed) return 0;
    report_failed_hook(log, done.error().text);
    return 1;
}

/// `arguments`: hook check ID KNOWN, and the log.
int check_main(std::vector<std::string> arguments) {
    const HookLog log = take_hook_log(arguments);
    const auto container = read_container_state(std::cin);
    const auto known = KnownGpus::read(arguments.back());
    client::BusNode node;
    const auto done =
        container && known
            ? take_in_found(*container, *known, node)
            : client::fail(client::ClientError::Kind::failed,
                           "the container: its hook was called without its state. Try: docker run "
                           "--runtime=cgpu.");
    if (done) return 0;
    report_failed_hook(log, done.error().text);
    return 1;
}

/// Of a container that another runtime makes.
int cdi_attach_main() {
    client::BusNode node;
    const auto done = cdi_attach_hook({std::istreambuf_iterator<char>(std::cin), {}}, node);
    if (done) return 0;
    report_failed_hook(log_of_calling_runtime(), done.error().text);
    return 1;
}

int create_main(const Invocation& invocation, char** arguments) {
    client::BusNode node;
    const auto prepared = prepare(invocation, runtime_program(), node);
    if (!prepared) {
        report_refusal(invocation, prepared.error().text);
        return 1;
    }
    if (*prepared || next_runtime_brings_gpus()) stand_before_low_level_runtimes();
    const client::ClientError error = become_next_runtime(arguments);
    if (*prepared) (void)node.release_instance(invocation.id);
    report_refusal(invocation, error.text);
    return 1;
}

}  // namespace
}  // namespace cgpu::runtime

int main(int argc, char** argv) {
    using namespace cgpu::runtime;
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    const Invocation invocation = read_invocation(arguments);
    try {
        if (arguments.size() >= 3 && arguments[0] == "hook" && arguments[1] == "attach")
            return attach_main(arguments);
        if (arguments.size() >= 4 && arguments[0] == "hook" && arguments[1] == "check")
            return check_main(arguments);
        if (arguments.size() >= 3 && arguments[0] == "hook" && arguments[1] == "cdi")
            return cdi_attach_main();
        if (invocation.creates()) return create_main(invocation, argv);
        report_refusal(
            invocation,
            "cgpu-runtime-managed: it is called by cgpu-runtime only. Try: docker run --runtime=cgpu.");
    } catch (const std::exception& error) {
        report_refusal(invocation, std::string("a fault: ") + error.what() +
                                       ". Try: run it again, and read the log of cgpud.");
    }
    return 1;
}
