// cgpu-runtime-managed: cgpu-runtime executes it with the same arguments if cgpud must be called: to create a
// container that requests a part of a GPU or gets GPUs without that, and in hooks, to attach one.
#include <exception>
#include <iostream>
#include <iterator>
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

namespace cgpu::runtime {
namespace {

/// `arguments`: hook attach ID [if-possible], and the log.
int attach_main(std::vector<std::string> arguments) {
    const HookLog log = take_hook_log(arguments);
    const bool must_succeed = arguments.size() == 3;
    client::BusNode node;
    const auto done = attach_hook(arguments[2], std::cin, node);
    if (done || !must_succeed) return 0;
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
    if (*prepared) stand_before_low_level_runtimes();
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
