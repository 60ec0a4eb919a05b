#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "core/model/refusal.hpp"
#include "daemon/app/events/events.hpp"
#include "daemon/app/events/repeated.hpp"

namespace cgpu::app {

/// Instances and containers that were refused, as events. Any user may ask without pause, so those of one
/// user and one name (or id, without a name) are told of as rarely as Repeated says. Names cost nothing, so
/// those of a user who takes more and more of them are told of together; root's, which are all of Docker's,
/// only when there are very many.
class RefusedAdmissions {
  public:
    // The maximum number of names at a time whose refusals are told of by themselves.
    static constexpr std::size_t kMostOfRoot = 64;
    static constexpr std::size_t kMostOfUser = 4;
    static constexpr std::size_t kMostOfAll = 256;
    /// Bytes; a longer name is left out.
    static constexpr std::size_t kLongestName = 255;

    RefusedAdmissions(Loop& loop, Events& events) : loop_(loop), events_(events) {}

    /// `id`, `name`: as the caller gave them. A refusal that asks the caller to try again isn't told: the
    /// clients do that by themselves.
    void happened(std::string_view id, std::string_view name, const Who& who, const model::Refusal& refusal);

  private:
    /// User id and name; the name is empty for those that are told of together.
    using Key = std::pair<std::uint32_t, std::string>;

    [[nodiscard]] Key key_of(std::uint32_t user, std::string_view name) const;
    Repeated& series_of(std::uint32_t user, std::string_view name);

    Loop& loop_;
    Events& events_;
    std::map<Key, Repeated> series_;
};

}  // namespace cgpu::app
