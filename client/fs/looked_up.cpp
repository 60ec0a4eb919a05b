#include "client/fs/looked_up.hpp"

#include <algorithm>
#include <iterator>

#include "client/fs/tree.hpp"

namespace cgpu::fs {

bool LookedUp::add(std::string_view path) {
    const auto name = path.find('/', 1);
    if (name == std::string_view::npos) return false;
    const auto folder = path.substr(0, path.find('/', name + 1));
    const std::lock_guard lock(mutex_);
    if (folders_.contains(folder)) return false;
    folders_.emplace(folder);
    return ++added_ >= kMany;
}

std::vector<std::string> LookedUp::take_gone(const client::Snapshot& node) {
    const std::lock_guard lock(mutex_);
    added_ = 0;
    std::vector<std::string> gone;
    std::ranges::copy_if(folders_, std::back_inserter(gone),
                         [&](const std::string& folder) { return !find_place(node, folder); });
    for (const std::string& folder : gone) folders_.erase(folder);
    return gone;
}

}  // namespace cgpu::fs
