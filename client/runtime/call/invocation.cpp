#include "client/runtime/call/invocation.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace cgpu::runtime {
namespace {

/// Options of runc and crun that take a value, either as the next argument or after `=`.
constexpr std::array<std::string_view, 17> kWithValue = {
    "--log",       "--log-format",   "--root",    "--criu",    "--rootless", "--cgroup-manager",
    "--log-level", "--bundle",       "-b",        "--config",  "-f",         "--console-socket",
    "--pid-file",  "--preserve-fds", "--handler", "--process", "-p",
};

struct Option {
    std::string_view name;
    std::string_view value;
};

}  // namespace

Invocation read_invocation(const std::vector<std::string>& arguments) {
    Invocation invocation;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string_view word = arguments[i];
        if (!word.starts_with('-') || word == "-") {
            if (invocation.command.empty())
                invocation.command = word;
            else if (invocation.id.empty())
                invocation.id = word;
            continue;
        }
        Option option{word.substr(0, word.find('=')), {}};
        if (option.name.size() < word.size())
            option.value = word.substr(option.name.size() + 1);
        else if (std::find(kWithValue.begin(), kWithValue.end(), option.name) != kWithValue.end() &&
                 i + 1 < arguments.size())
            option.value = arguments[++i];
        if (option.name == "--bundle" || option.name == "-b") invocation.bundle = option.value;
        if (option.name == "--log" && invocation.command.empty()) invocation.log = option.value;
        if (option.name == "--root" && invocation.command.empty()) invocation.root = option.value;
        if (option.name == "--process" || option.name == "-p") invocation.process = option.value;
        if (option.name == "--log-format") invocation.log_as_json = option.value == "json";
    }
    return invocation;
}

}  // namespace cgpu::runtime
