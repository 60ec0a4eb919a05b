#include <algorithm>
#include <array>

#include <sys/wait.h>
#include <unistd.h>

#include "client/cgpuctl/base/verbs.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "client/cgpuctl/output/table.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::ClientError;

std::string source_text(const std::string& source) {
    if (source == "runtime") return "set until the reboot";
    return source == "state" ? "set on this node" : source;
}

Json to_json(const client::ConfigurationValue& value) {
    Json json = {{"key", value.key}, {"value", value.value}, {"source", value.source}};
    if (value.configured.empty()) return json;
    json["configured"] = value.configured;
    json["configured_source"] = value.configured_source;
    json["remedy"] = value.remedy;
    return json;
}

client::Result<void> show_all(const Input& input, client::Node& node, Terminal& terminal) {
    const auto values = node.configuration();
    if (!values) return tl::unexpected(values.error());
    if (input.json) {
        Json list = Json::array();
        for (const auto& value : *values) list.push_back(to_json(value));
        terminal.out() << to_text(list);
        return {};
    }
    Table table({"KEY", "VALUE", "SOURCE"});
    for (const auto& value : *values) table.add({value.key, value.value, source_text(value.source)});
    table.print(terminal, !input.no_legend);
    for (const auto& value : *values)
        if (!value.configured.empty())
            terminal.warning(value.key + ": " + value.configured_source + " says " + value.configured +
                             ", which is not in force. Try: " + value.remedy + ".");
    return {};
}

/// cgpud itself reads the files: what it accepts here, it accepts when it is started or told to reload.
client::Result<void> check_files(const Input& input, Terminal& terminal) {
    if (input.files.empty())
        return client::fail(ClientError::Kind::usage,
                            "cgpuctl config check: the files are missing. Try: cgpuctl config check "
                            "/etc/cgpu/cgpud.yaml.");
    constexpr std::array kPrograms = {"/usr/sbin/cgpud", "/usr/local/sbin/cgpud"};
    const auto* const program =
        std::ranges::find_if(kPrograms, [](const char* path) { return access(path, X_OK) == 0; });
    if (program == kPrograms.end())
        return client::fail(ClientError::Kind::failed,
                            "cgpud: it is not installed here, and it reads the files. Try: apt-get install "
                            "cgpu.");
    std::vector<const char*> arguments = {*program, "--check-files"};
    for (const auto& file : input.files) arguments.push_back(file.c_str());
    arguments.push_back(nullptr);
    terminal.out().flush();
    const pid_t child = fork();
    if (child == 0) {
        execv(*program, const_cast<char* const*>(arguments.data()));
        _exit(127);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) == 127)
        return client::fail(
            ClientError::Kind::failed,
            std::string(*program) + ": it could not be run. Try: " + *program + " --version.");
    if (WEXITSTATUS(status) == 0) return {};
    return client::fail(ClientError::Kind::failed,
                        "The configuration would be refused, for the reasons above. Try: correct them, and "
                        "then this again.");
}

}  // namespace

client::Result<void> config(const Input& input, client::Node& node, Terminal& terminal) {
    if (input.action.empty() || input.action == "show") return show_all(input, node, terminal);
    if (input.action == "check") return check_files(input, terminal);
    return client::fail(ClientError::Kind::usage, "cgpuctl config: " + printable(input.action) +
                                                      " is not an action. Try: show or check.");
}

}  // namespace cgpu::cgpuctl
