#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/app/events/events.hpp"
#include "daemon/app/events/repeated.hpp"

namespace cgpu::app {

/// Events that users can cause without pause. Those of one user and one name are told of as rarely as
/// Repeated says. Names may cost nothing, so those of a user who takes more and more of them are told of
/// together; root's, which are all of Docker's, only when there are very many.
class RepeatedByUser {
  public:
    // The maximum number of names at a time that are told of by themselves.
    static constexpr std::size_t kMostOfRoot = 64;
    static constexpr std::size_t kMostOfUser = 4;
    static constexpr std::size_t kMostOfAll = 256;
    /// Bytes of a name that count.
    static constexpr std::size_t kLongestName = 255;

    RepeatedByUser(Loop& loop, Events& events) : loop_(loop), events_(events) {}

    void happened(std::uint32_t user, std::string_view name, Event event);

  private:
    /// User id and name; the name is empty for those that are told of together.
    using Key = std::pair<std::uint32_t, std::string>;

    [[nodiscard]] Key key_of(std::uint32_t user, std::string_view name) const;

    Loop& loop_;
    Events& events_;
    std::map<Key, Repeated> series_;
};

}  // namespace cgpu::app
