#include "client/enter/request.hpp"

namespace cgpu::enter {

using client::ClientError;

client::Result<Request> read_arguments(const std::vector<std::string>& arguments) {
    const auto wrong = [](const std::string& why) {
        return client::fail(ClientError::Kind::usage,
                            "cgpu-enter: " + why + ". Try: cgpuctl run, which calls it.");
    };
    if (arguments.size() < 2) return wrong("it takes the id of an instance and a command");
    auto instance = model::InstanceId::parse(arguments.front());
    if (!instance) return wrong(instance.error());
    if (arguments[1].empty()) return wrong("the command has no name");
    return Request{std::move(*instance), {arguments.begin() + 1, arguments.end()}};
}

std::vector<std::string> read_environment(std::string_view block) {
    std::vector<std::string> entries;
    while (!block.empty()) {
        const auto end = block.find('\0');
        if (end != 0) entries.emplace_back(block.substr(0, end));
        block.remove_prefix(end == std::string_view::npos ? block.size() : end + 1);
    }
    return entries;
}

std::string value_of(const std::vector<std::string>& environment, std::string_view name) {
    for (const std::string& entry : environment)
        if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
            return entry.substr(name.size() + 1);
    return {};
}

}  // namespace cgpu::enter
