#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "client/node/bus_node.hpp"
#include "client/runtime/create.hpp"
#include "client/runtime/hooks.hpp"
#include "client/runtime/next_runtime.hpp"
#include "client/runtime/refusal.hpp"

namespace cgpu::runtime {
namespace {

int hook_main(const std::vector<std::string>& arguments) {
    client::BusNode node;
    const auto done = run_hook(arguments, std::cin, node);
    if (done) return 0;
    // The runtime puts this into its own error.
    std::cerr << "cgpu: " << done.error().text << '\n';
    return 1;
}

int refuse(const Invocation& invocation, const client::ClientError& error) {
    report_refusal(invocation, error.text);
    return 1;
}

/// The bus is only reached for where a container is to be managed.
int runtime_main(const Invocation& invocation, char** arguments) {
    std::unique_ptr<client::BusNode> connected;
    const auto node = [&]() -> client::Node& {
        if (connected == nullptr) connected = std::make_unique<client::BusNode>();
        return *connected;
    };
    bool managed = false;
    if (invocation.creates()) {
        const auto prepared =
            prepare(invocation, std::filesystem::canonical("/proc/self/exe").native(), node);
        if (!prepared) return refuse(invocation, prepared.error());
        managed = *prepared;
    }
    const client::ClientError error = become_next_runtime(arguments);
    if (managed) (void)node().release_instance(invocation.id);
    return refuse(invocation, error);
}

}  // namespace
}  // namespace cgpu::runtime

int main(int argc, char** argv) {
    using namespace cgpu::runtime;
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    const Invocation invocation = read_invocation(arguments);
    try {
        if (!arguments.empty() && arguments.front() == "hook")
            return hook_main({arguments.begin() + 1, arguments.end()});
        return runtime_main(invocation, argv);
    } catch (const std::exception& error) {
        return refuse(invocation,
                      {cgpu::client::ClientError::Kind::failed,
                       std::string("a fault: ") + error.what() + ". Try: again, and the log of cgpud."});
    }
}
