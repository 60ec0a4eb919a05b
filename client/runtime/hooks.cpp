#include "client/runtime/hooks.hpp"

#include <cerrno>
#include <csignal>

#include <nlohmann/json.hpp>

#include "client/run/driver_files.hpp"
#include "client/run/mount_plan.hpp"
#include "client/run/mounts.hpp"

namespace cgpu::runtime {
namespace {

using client::Result;
using Kind = client::ClientError::Kind;

/// createRuntime: from here on the instance lives with the container's first process. (The state of the later
/// hooks has its pid inside the container.)
Result<void> attach(const std::string& id, std::istream& input, client::Node& node) {
    const auto state = nlohmann::json::parse(input, nullptr, false);
    const auto pid = state.is_object() ? state.find("pid") : state.end();
    if (!state.is_object() || pid == state.end() || !pid->is_number_unsigned())
        return client::fail(Kind::failed, "container " + id.substr(0, 12) +
                                              ": the runtime gave no state with its pid. Try: runc or crun.");
    return node.attach(id, pid->get<std::uint32_t>());
}

/// createContainer: in the container's mount namespace, where the host's files are still to be seen.
Result<void> mount(const std::string& link_folder, const std::string& root_folder) {
    const auto root = client::Root::open(root_folder);
    if (!root) return tl::unexpected(root.error());
    const auto driver = client::find_driver(*root);
    if (!driver)
        return client::fail(
            Kind::refused,
            "the container: there is no libcuda.so.1 in it, so its part of the GPU could not be "
            "limited. Try: whether nvidia-container-toolkit is installed on the host, since it "
            "brings the driver's libraries into containers.");
    return client::make_mounts(client::plan_mounts(*driver, link_folder, {}), *root);
}

/// poststop: the daemon sees the end of the process by itself; this only makes it happen now.
Result<void> release(const std::string& id, client::Node& node) {
    const auto snapshot = node.read();
    if (!snapshot) return {};
    for (const client::Instance& instance : snapshot->instances) {
        const bool gone =
            instance.pid != 0 && kill(static_cast<pid_t>(instance.pid), 0) != 0 && errno == ESRCH;
        if (instance.id == id && gone) (void)node.release_instance(id);
    }
    return {};
}

}  // namespace

Result<void> run_hook(const std::vector<std::string>& arguments, std::istream& state, client::Node& node) {
    if (arguments.size() == 2 && arguments[0] == "attach") return attach(arguments[1], state, node);
    if (arguments.size() == 3 && arguments[0] == "mount") return mount(arguments[1], arguments[2]);
    if (arguments.size() == 2 && arguments[0] == "release") return release(arguments[1], node);
    return client::fail(Kind::usage,
                        "cgpu-runtime hook: it is called by containers' hooks only. Try: docker run "
                        "--runtime=cgpu.");
}

}  // namespace cgpu::runtime
