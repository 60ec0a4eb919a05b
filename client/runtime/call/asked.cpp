#include "client/runtime/call/asked.hpp"

#include <filesystem>

#include "client/runtime/call/unmanaged_gpus.hpp"
#include "client/runtime/oci/cdi_devices.hpp"
#include "core/request/request.hpp"
#include "core/request/unknown_name.hpp"
#include "core/request/variables.hpp"

namespace cgpu::runtime {

Result<Variables> asked_by(const OciBundle& bundle) {
    // The engine has merged their variables, so only the last one would count.
    const auto devices = own_cdi_devices(bundle);
    if (devices.size() > 1)
        return client::fail(client::ClientError::Kind::refused,
                            devices[0] + " and " + devices[1] +
                                ": a container can have one part only. Try: name one of these devices.");
    Variables all = bundle.annotations();
    all.merge(bundle.environment());
    Variables asked;
    for (const auto& [name, value] : all)
        if (client::asks_for_gpu(name)) asked.emplace(name, value);
    const auto request = request::parse_request(asked);
    if (!request) return client::fail(client::ClientError::Kind::refused, request.error().text);
    if (*request && (*request)->wait.value_or(0) > kLongestWait)
        return client::fail(
            client::ClientError::Kind::refused,
            request::assignment(request::names::kWait, *request::find_value(asked, request::names::kWait)) +
                ": a container can wait for " + std::string(kLongestWaitText) +
                " at most, because its engine holds it locked while it is created. Try: "
                "CGPU_WAIT=" +
                std::string(kLongestWaitText) + ", and a restart policy.");
    // An image may have such a variable, and whoever names the device means a limit.
    if (!*request && !devices.empty())
        return client::fail(
            client::ClientError::Kind::refused,
            devices.front() +
                ": the container's variables say that it isn't to be managed (CGPU_DISABLE, or an "
                "amount of 0). Try: leave out the device or the variable.");
    // The daemon decides whether a variable that only looks like ours is refused.
    return *request || request::find_unknown_name(asked) ? asked : Variables();
}

Result<bool> needs_cgpud(const Invocation& invocation, const std::function<bool()>& brought_by_next) {
    if (!invocation.creates()) return false;
    // Without a config.json, the next runtime reports it in its own words. One that only the next runtime can
    // read is refused: no container may run unmanaged because two parsers differ.
    std::error_code none;
    if (!std::filesystem::exists(std::filesystem::path(invocation.bundle) / "config.json", none))
        return false;
    const auto bundle = OciBundle::read(invocation.bundle);
    if (!bundle) return tl::unexpected(bundle.error());
    const auto variables = asked_by(*bundle);
    if (!variables) return tl::unexpected(variables.error());
    return !variables->empty() || gets_unmanaged_gpus(*bundle, brought_by_next);
}

}  // namespace cgpu::runtime
