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

    /// Events of a user that are told by themselves, however similar they are: so many at once, and then one
    /// for each such time.
    struct Allowance {
        int at_once = 0;
        Nanos one_more_after = kSecond;
    };

    RepeatedByUser(Loop& loop, Events& events) : RepeatedByUser(loop, events, Allowance()) {}
    RepeatedByUser(Loop& loop, Events& events, Allowance allowance)
        : loop_(loop),
          tell_([&events](Event told) { events.happened(std::move(told)); }),
          allowance_(allowance) {}
    /// `tell`: what is done instead with those that are told, such as lines that are no events.
    RepeatedByUser(Loop& loop, Repeated::Tell tell) : loop_(loop), tell_(std::move(tell)) {}

    void happened(std::uint32_t user, std::string_view name, Event event);
    /// Whether the next event of the user will be told by itself.
    [[nodiscard]] bool has_allowance(std::uint32_t user);

  private:
    /// What a user may have told by itself is used up until then, if that is to come.
    using UsedUntil = Nanos;

    /// User id and name; the name is empty for those that are told of together.
    using Key = std::pair<std::uint32_t, std::string>;

    [[nodiscard]] Key key_of(std::uint32_t user, std::string_view name) const;

    Loop& loop_;
    Repeated::Tell tell_;
    Allowance allowance_;
    std::map<std::uint32_t, UsedUntil> used_;
    std::map<Key, Repeated> series_;
};

/// The events of instances that come and end. All of root's are told, because root starts what an engine's
/// users do; another user has to cause very many before they are told of together.
class ComingAndGoing {
  public:
    static constexpr RepeatedByUser::Allowance kOfUser{120, 2 * kSecond};

    ComingAndGoing(Loop& loop, Events& events) : events_(events), repeated_(loop, events, kOfUser) {}

    void happened(std::uint32_t user, Event event);
    [[nodiscard]] bool is_told(std::uint32_t user) { return user == 0 || repeated_.has_allowance(user); }

  private:
    Events& events_;
    RepeatedByUser repeated_;
};

}  // namespace cgpu::app
