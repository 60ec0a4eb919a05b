#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "client/node/values/snapshot.hpp"

namespace cgpu::fs {

/// The folders of instances that somebody has looked up. The kernel keeps what was looked up until somebody
/// asks for the same name again or memory is short, and libfuse keeps a record of each for as long. Nobody
/// asks for an ended instance's name again.
class LookedUp {
  public:
    /// After so many new ones it is time to see which are gone: so as many are left at most, and nothing is
    /// done while nobody reads the tree.
    static constexpr std::size_t kMany = 64;

    /// Takes the path of an instance's folder, or of a file in it: `/0/012b2edccd7a/weight`. Returns whether
    /// it is time to see which are gone.
    bool add(std::string_view path);
    /// The folders that name no instance any more; it forgets them.
    [[nodiscard]] std::vector<std::string> take_gone(const client::Snapshot& node);

  private:
    std::mutex mutex_;
    std::set<std::string, std::less<>> folders_;
    std::size_t added_ = 0;  ///< since gone ones were taken
};

}  // namespace cgpu::fs
