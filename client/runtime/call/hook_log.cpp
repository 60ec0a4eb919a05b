#include "client/runtime/call/hook_log.hpp"

#include <filesystem>
#include <string_view>

namespace cgpu::runtime {
namespace {

constexpr std::string_view kJson = "--json-log=";
constexpr std::string_view kText = "--text-log=";

}  // namespace

std::string hook_log_argument(const Invocation& invocation) {
    // A hook has another working folder. And crun's logs may be something else than a file, such as
    // `journald:NAME`.
    if (!std::filesystem::path(invocation.log).is_absolute()) return {};
    return std::string(invocation.log_as_json ? kJson : kText) + invocation.log;
}

HookLog take_hook_log(std::vector<std::string>& arguments) {
    for (const std::string_view name : {kJson, kText}) {
        if (arguments.empty() || !arguments.back().starts_with(name)) continue;
        HookLog log{arguments.back().substr(name.size()), name == kJson};
        arguments.pop_back();
        return log;
    }
    return {};
}

}  // namespace cgpu::runtime
