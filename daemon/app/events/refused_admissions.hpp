#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>

#include "core/model/refusal.hpp"
#include "daemon/app/events/events.hpp"
#include "daemon/app/events/repeated.hpp"

namespace cgpu::app {

/// Instances and containers that were refused, as events. Any user may ask without pause, so those of one
/// user are told of as rarely as Repeated says.
class RefusedAdmissions {
  public:
    /// The maximum number of users whose refusals are counted by themselves; those of all others are counted
    /// together.
    static constexpr std::size_t kMostUsers = 64;

    /// Bytes; a longer name is left out.
    static constexpr std::size_t kLongestName = 255;

    RefusedAdmissions(Loop& loop, Events& events) : loop_(loop), events_(events) {}

    /// `id`, `name`: as the caller gave them. A refusal that asks the caller to try again isn't told: the
    /// clients do that by themselves.
    void happened(std::string_view id, std::string_view name, const Who& who, const model::Refusal& refusal);

  private:
    Repeated& series_of(std::uint32_t user);

    Loop& loop_;
    Events& events_;
    std::map<std::uint32_t, Repeated> of_users_;
    std::unique_ptr<Repeated> of_others_;
};

}  // namespace cgpu::app
