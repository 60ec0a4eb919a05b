#include <algorithm>
#include <array>

#include <sys/wait.h>
#include <unistd.h>

#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "client/cgpuctl/output/table.hpp"
#include "client/cgpuctl/output/warnings.hpp"
#include "client/cgpuctl/verbs/config.hpp"

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

/// With --check, a difference is a failure.
client::Result<void> judge(const ConfigInput& input,
                           const std::vector<client::ConfigurationValue>& differing) {
    if (!input.check || differing.empty()) return {};
    return client::fail(ClientError::Kind::failed,
                        "config: the node and the files differ in " + std::to_string(differing.size()) +
                            (differing.size() == 1 ? " value" : " values") +
                            ". Try: do what is said beside each, or write into the files what is to stay.");
}

/// The words by which cgpud takes the node's GPUs; none if it doesn't run, because then nobody knows them.
std::vector<std::string> gpus_of(client::Node& node) {
    std::vector<std::string> words;
    const auto service = node.service();
    if (!service || !service->running) return words;
    if (const auto snapshot = node.read())
        for (const auto& gpu : snapshot->gpus) words.push_back(std::to_string(gpu.index) + "=" + gpu.uuid);
    return words;
}

}  // namespace

client::Result<void> config_show(const ConfigInput& input, client::Node& node, Terminal& terminal) {
    auto values = node.configuration();
    if (!values) return tl::unexpected(values.error());
    const auto differing = differing_values(*values);
    if (input.check) *values = differing;
    if (input.json) {
        Json list = Json::array();
        for (const auto& value : *values) list.push_back(to_json(value));
        terminal.out() << to_text(list);
        return judge(input, differing);
    }
    Table table({"KEY", "VALUE", "SOURCE"});
    for (const auto& value : *values) table.add({value.key, value.value, source_text(value.source)});
    if (!table.empty()) table.print(terminal, !input.no_legend);
    for (const auto& value : differing) terminal.warning(text_of_difference(value));
    if (input.check && differing.empty()) terminal.done("All that the files say is in force.");
    return judge(input, differing);
}

/// cgpud itself reads the files: what it accepts here, it accepts when it is started or told to reload.
client::Result<void> config_check(const ConfigFilesInput& input, client::Node& node, Terminal& terminal) {
    constexpr std::array kPrograms = {"/usr/sbin/cgpud", "/usr/local/sbin/cgpud"};
    const auto* const program =
        std::ranges::find_if(kPrograms, [](const char* path) { return access(path, X_OK) == 0; });
    if (program == kPrograms.end())
        return client::fail(ClientError::Kind::failed,
                            "cgpud: it is not installed here, and it reads the files. Try: apt-get install "
                            "cgpu.");
    std::vector<const char*> arguments = {*program, "--check-files"};
    for (const auto& file : input.files) arguments.push_back(file.c_str());
    const auto gpus = gpus_of(node);
    if (!gpus.empty()) arguments.push_back("--gpus");
    for (const auto& gpu : gpus) arguments.push_back(gpu.c_str());
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

}  // namespace cgpu::cgpuctl
