#include "client/cgpuctl/output/people.hpp"

#include <pwd.h>

#include "client/cgpuctl/output/format.hpp"

namespace cgpu::cgpuctl {

const std::string& UserNames::of(std::uint32_t uid) {
    const auto [known, is_new] = known_.try_emplace(uid);
    if (!is_new) return known->second;
    const passwd* entry = of_this_machine_ ? getpwuid(uid) : nullptr;
    return known->second = entry != nullptr ? printable(entry->pw_name) : std::to_string(uid);
}

std::string owner_text(const std::optional<std::uint32_t>& owner, const std::string& declared,
                       UserNames& users) {
    if (owner) return users.of(*owner);
    return declared.empty() ? "-" : printable(declared) + " (declared)";
}

std::string process_text(const client::Process& process, UserNames& users) {
    std::string text = std::to_string(process.pid);
    if (process.uid) text += " " + users.of(*process.uid);
    if (!process.command.empty()) text += " " + shown_name(process.command);
    return text;
}

}  // namespace cgpu::cgpuctl
