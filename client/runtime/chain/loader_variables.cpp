#include "client/runtime/chain/loader_variables.hpp"

#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

namespace cgpu::runtime {
namespace {

constexpr std::string_view kLoaders = "LD_";
constexpr std::string_view kAside = "CGPU_RUNTIME_ASIDE_";

/// The variables whose names begin with `prefix`.
std::vector<std::pair<std::string, std::string>> variables_with(std::string_view prefix) {
    std::vector<std::pair<std::string, std::string>> found;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const auto equals = text.find('=');
        if (equals != std::string_view::npos && text.starts_with(prefix))
            found.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
    return found;
}

void rename(const std::string& from, const std::string& to, const std::string& value) {
    setenv(to.c_str(), value.c_str(), 1);
    unsetenv(from.c_str());
}

}  // namespace

void set_loader_variables_aside() {
    for (const auto& [name, value] : variables_with(kLoaders))
        rename(name, std::string(kAside) + name, value);
}

void put_loader_variables_back() {
    for (const auto& [name, value] : variables_with(kAside)) rename(name, name.substr(kAside.size()), value);
}

}  // namespace cgpu::runtime
