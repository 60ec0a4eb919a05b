#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "core/model/instance_id.hpp"
#include "core/model/instance_word.hpp"

namespace cgpu::app {

/// Whose the ids of ended instances were. An engine starts a container again with the id that it had, and
/// everybody could read that id on the bus: another user who took it meanwhile would keep the container from
/// starting. Only drawn ids count (model::looks_drawn), by their short ids. They are known for as long as
/// cgpud runs.
class EndedIds {
  public:
    /// So many of each user are kept, the latest ones: nobody's ids are pushed out by another's.
    static constexpr std::size_t kMostOfUser = 1024;

    void add(const model::InstanceId& id, std::uint32_t user) {
        if (!model::looks_drawn(id.str())) return;
        const auto [it, is_new] = users_.try_emplace(id.short_id(), user);
        // It stays whose it was: root may have used another's.
        if (it->second != user) return;
        auto& ids = ids_[user];
        if (!is_new) std::erase(ids, it->first);
        ids.push_back(it->first);
        if (ids.size() <= kMostOfUser) return;
        users_.erase(ids.front());
        ids.pop_front();
    }

    /// The user who had an instance with the same short id first. Empty: none, or too long ago.
    [[nodiscard]] std::optional<std::uint32_t> user_of(const model::InstanceId& id) const {
        if (!model::looks_drawn(id.str())) return std::nullopt;
        const auto it = users_.find(id.short_id());
        return it == users_.end() ? std::nullopt : std::optional(it->second);
    }

  private:
    std::map<std::string, std::uint32_t> users_;            ///< by short id
    std::map<std::uint32_t, std::deque<std::string>> ids_;  ///< of each user, oldest first
};

}  // namespace cgpu::app
