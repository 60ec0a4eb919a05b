// cgpu-runtime: Docker calls it for every command of every container with this runtime, and it is the program
// of their hooks. It executes the next runtime or, if cgpud is needed, the program beside it that calls cgpud
// (see managed_main.cpp). It is linked statically: so it starts in half a millisecond, and doesn't depend on
// libraries that its environment could replace.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include "client/runtime/call/asked.hpp"
#include "client/runtime/call/exec_environment.hpp"
#include "client/runtime/call/hook_log.hpp"
#include "client/runtime/call/refusal.hpp"
#include "client/runtime/call/unmanaged_gpus.hpp"
#include "client/runtime/cdi_mount.hpp"
#include "client/runtime/chain/calls.hpp"
#include "client/runtime/chain/loader_variables.hpp"
#include "client/runtime/chain/low_level_runtime.hpp"
#include "client/runtime/chain/next_runtime.hpp"
#include "client/runtime/chain/programs.hpp"
#include "client/runtime/hooks/check_hook.hpp"
#include "client/runtime/hooks/mount_hook.hpp"
#include "client/runtime/oci/own_hook.hpp"
#include "files/descriptor.hpp"

namespace cgpu::runtime {
namespace {

using client::ClientError;

/// Returns only an error.
ClientError become_managed(char** arguments) {
    set_loader_variables_aside();
    execv(managed_program().c_str(), arguments);
    return {ClientError::Kind::failed,
            managed_program() + ": " + std::strerror(errno) + ". Try: install the cgpu package again."};
}

/// This process's stdin has the text from now on.
bool put_on_stdin(const std::string& text) {
    const Descriptor file(memfd_create("state", MFD_CLOEXEC));
    return file && write(file.fd(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
           lseek(file.fd(), 0, SEEK_SET) == 0 && dup2(file.fd(), STDIN_FILENO) == STDIN_FILENO;
}

/// createRuntime of a container without a limit. cgpud is called only if the container has GPUs that cgpud
/// doesn't know of.
Result<void> check_main(const std::string& known_gpus, char** all) {
    const std::string state(std::istreambuf_iterator<char>(std::cin), {});
    std::istringstream text(state);
    const auto container = read_container_state(text);
    const auto known = KnownGpus::read(known_gpus);
    if (!container || container->pid == 0 || !known)
        return client::fail(
            ClientError::Kind::failed,
            "the container: the runtime gave its hook no state with its bundle and pid. Try: use "
            "runc or crun.");
    const auto beyond = gpus_beyond(*container, *known);
    if (!beyond) return tl::unexpected(beyond.error());
    if (!*beyond) return {};
    if (!put_on_stdin(state))
        return client::fail(ClientError::Kind::failed, std::string("the container's state: ") +
                                                           std::strerror(errno) + ". Try: start it again.");
    return tl::unexpected(become_managed(all));
}

int hook_main(std::vector<std::string> arguments, char** all) {
    const bool by_cdi = arguments.size() >= 3 && arguments[0] == "cdi";
    const HookLog log = by_cdi ? log_of_calling_runtime() : take_hook_log(arguments);
    const bool is_attach = by_cdi
                               ? arguments.size() == 3 && arguments[1] == "attach"
                               : (arguments.size() == 2 || arguments.size() == 3) && arguments[0] == "attach";
    Result<void> done;
    if (arguments.size() == 5 && arguments[0] == "mount")
        done = mount_hook(arguments[1], arguments[2], {arguments[3], arguments[4]}, std::cin);
    else if (arguments.size() == 3 && arguments[0] == "check")
        done = check_main(arguments[2], all);
    else if (by_cdi && arguments.size() == 4 && arguments[1] == "mount")
        done = cdi_mount_hook(arguments[3], {std::istreambuf_iterator<char>(std::cin), {}});
    else if (is_attach)
        done = tl::unexpected(become_managed(all));
    else
        done = client::fail(ClientError::Kind::usage,
                            "cgpu-runtime hook: it is called by containers' hooks only. Try: docker run "
                            "--runtime=cgpu.");
    if (done) return 0;
    report_failed_hook(log, done.error().text);
    return 1;
}

/// The low-level runtime for which this program was called, if it wasn't called by an engine.
std::optional<std::string> wanted_low_level_runtime(const char* called_as) {
    if (auto name = low_level_name(called_as)) return name;
    if (this_call() == Call::by_next_runtime) return present_low_level_runtime();
    return std::nullopt;
}

/// A container that requests nothing, and gets no GPU as far as can be told: the next runtime, or a hook, may
/// bring some in nevertheless.
Result<void> have_it_checked(const Invocation& invocation) {
    std::error_code none;
    if (!invocation.creates() ||
        !std::filesystem::exists(std::filesystem::path(invocation.bundle) / "config.json", none))
        return {};
    auto bundle = OciBundle::read(invocation.bundle);
    if (!bundle) return tl::unexpected(bundle.error());
    if (!may_get_gpus_later(*bundle)) return {};
    const char* bus = std::getenv("DBUS_SYSTEM_BUS_ADDRESS");
    add_check_hook(*bundle, {runtime_program(), bus == nullptr ? "" : bus, hook_log_argument(invocation)},
                   invocation.id, {});
    stand_before_low_level_runtimes();
    return bundle->write();
}

int runtime_main(const Invocation& invocation, char** arguments) {
    if (this_call() == Call::by_low_level_runtime) {
        report_refusal(invocation,
                       "runc or crun calls cgpu-runtime, so no program makes the container. Try: install the "
                       "package runc again.");
        return 1;
    }
    if (const auto name = wanted_low_level_runtime(arguments[0])) {
        report_refusal(invocation, become_low_level_runtime(*name, invocation, arguments).text);
        return 1;
    }
    grant_to_executed(invocation);
    const auto asked = needs_cgpud(invocation, next_runtime_brings_gpus);
    const auto checked = asked && !*asked ? have_it_checked(invocation) : Result<void>{};
    const ClientError error = !asked     ? asked.error()
                              : *asked   ? become_managed(arguments)
                              : !checked ? checked.error()
                                         : become_next_runtime(arguments);
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
        if (!arguments.empty() && arguments.front() == "hook")
            return hook_main({arguments.begin() + 1, arguments.end()}, argv);
        return runtime_main(invocation, argv);
    } catch (const std::exception& error) {
        report_refusal(invocation, std::string("a fault: ") + error.what() + ". Try: run it again.");
        return 1;
    }
}
