// cgpu-enter: makes the mounts of a job for a user who isn't root. It is set-uid root, and cgpuctl run
// executes it, so that it keeps cgpuctl's pid: cgpu-enter INSTANCE COMMAND [ARGUMENT…].
//
// Any user may call it with any arguments. What makes that safe:
// - cgpud decides which instance it may enter: it takes the driver's files only from the instance's own
//   process or its descendants, and only once. Nothing is mounted before that.
// - Root's files alone decide which driver is behind the fronts. The caller's LD_LIBRARY_PATH and
//   CONDA_PREFIX only name folders with further files to mount the same fronts over. These are looked up with
//   the caller's rights, and must be the caller's own: otherwise a link could lead the mount to any file of
//   the system.
// - Mounts are made in a mount namespace of its own, over files that bear a driver's name themselves and say
//   that they are the driver's (their SONAME), and below /run/cgpu.
// - The command is started with the caller's rights, environment and descriptors, except those that lead past
//   the mounts. Standard descriptors that the caller has closed are open to /dev/null or /dev/full: the C
//   library opens them in set-uid programs.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "client/enter/own_copies.hpp"
#include "client/enter/privilege.hpp"
#include "client/enter/request.hpp"
#include "client/run/files/inherited.hpp"
#include "client/run/job/start_command.hpp"
#include "client/run/mounts/fronts.hpp"
#include "client/run/mounts/mounts.hpp"
#include "core/model/utf8.hpp"
#include "files/read.hpp"

namespace cgpu::enter {
namespace {

using client::ClientError;

/// Not configurable, neither by runtime_dir in cgpud.yaml nor by the caller: root trusts the files below it.
constexpr const char* kInstances = "/run/cgpu/instances/";

client::Result<std::vector<std::string>> whole_environment() {
    constexpr std::size_t kMost = std::size_t{64} << 20;  // far more than the kernel lets a program have
    const auto block = files::read_text("/proc/self/environ", kMost);
    if (!block)
        return client::fail(ClientError::Kind::failed,
                            "/proc/self/environ: it can't be read. Try: mount /proc.");
    return read_environment(*block);
}

client::Result<std::string> link_folder_of(const model::InstanceId& instance) {
    const std::string folder = kInstances + instance.str();
    // access(2) checks the caller's rights. cgpud itself identifies the caller once more.
    if (access(folder.c_str(), X_OK) != 0)
        return client::fail(ClientError::Kind::not_authorized,
                            "instance " + instance.short_id() + ": there is no folder of it for you in " +
                                kInstances +
                                ". Try: cgpuctl run, with the default runtime_dir in cgpud.yaml.");
    return folder + "/link";
}

/// From the caller's arguments to the running command; returns only an error.
ClientError enter(const std::vector<std::string>& arguments) {
    if (auto root = check_root(); !root) return root.error();
    const auto request = read_arguments(arguments);
    if (!request) return request.error();
    const auto environment = whole_environment();
    if (!environment) return environment.error();
    // Neither this program nor a library may use the caller's environment.
    clearenv();
    if (auto entered = client::enter_namespace(); !entered) return entered.error();
    const auto folder = link_folder_of(request->instance);
    if (!folder) return folder.error();
    const auto root = client::Root::open("/");
    if (!root) return root.error();
    const auto system = client::find_driver(*root, {});
    if (!system) return system.error();
    const auto copies =
        own_copies(*root, {value_of(*environment, "LD_LIBRARY_PATH"), value_of(*environment, "CONDA_PREFIX")},
                   system->libraries);
    if (!copies) return copies.error();
    auto closed = client::ids_of(system->libraries);
    for (const Copy& copy : *copies) closed.push_back(copy.file.id);
    if (auto done = client::put_fronts_before(system->libraries, *folder, *root); !done) return done.error();
    if (auto done = cover(*copies, *root); !done) return done.error();
    if (auto done = client::settle_inherited(closed, getuid(), getgid()); !done) return done.error();
    if (auto done = become_caller(); !done) return done.error();
    // The original environment, including entries that setenv(3) would not accept.
    auto entries = client::as_exec_takes(*environment);
    environ = entries.data();
    return client::start_command(request->command);
}

}  // namespace
}  // namespace cgpu::enter

int main(int argc, char** argv) {
    using namespace cgpu;
    try {
        const auto error = enter::enter(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
        std::fprintf(stderr, "%s\n", model::valid_utf8(error.text).c_str());
        return client::exit_code(error.kind);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "cgpu-enter: %s\n", error.what());
        return client::exit_code(client::ClientError::Kind::failed);
    }
}
