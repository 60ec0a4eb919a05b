#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "client/node/values/snapshot.hpp"

namespace cgpu::cgpuctl {

/// Names of users by their ids, by this machine's name service: each is looked up once.
class UserNames {
  public:
    /// `of_this_machine`: false where the ids are another machine's, which are shown as numbers.
    explicit UserNames(bool of_this_machine) : of_this_machine_(of_this_machine) {}

    /// The number where there is no such user.
    [[nodiscard]] const std::string& of(std::uint32_t uid);

  private:
    bool of_this_machine_;
    std::map<std::uint32_t, std::string> known_;
};

/// Whose an instance is: `alice`, `alice (declared)` for what only a container of root's engine says, or `-`.
[[nodiscard]] std::string owner_text(const std::optional<std::uint32_t>& owner, const std::string& declared,
                                     UserNames& users);

/// `4711 alice python3`: host pid, user, command. Printable, whatever the process calls itself.
[[nodiscard]] std::string process_text(const client::Process& process, UserNames& users);

}  // namespace cgpu::cgpuctl
