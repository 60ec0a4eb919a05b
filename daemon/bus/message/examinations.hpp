#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "daemon/app/ports/ports.hpp"
#include "daemon/bus/message/examined.hpp"

namespace cgpu::bus {

/// What others than root have examined: how many of them wait, and the last answer.
class Examinations {
  public:
    using Facts = std::map<std::string, sdbus::Variant>;
    /// Calls that wait for an answer. The driver may need seconds for it.
    static constexpr std::size_t kMostWaiting = 32;

    /// Counts one call while the result, or a copy, lives: whatever becomes of the answer, its end ends the
    /// count. Empty: too many wait.
    [[nodiscard]] std::shared_ptr<const void> begin() {
        if (*waiting_ >= kMostWaiting) return nullptr;
        ++*waiting_;
        return {waiting_.get(), [count = waiting_](const void*) { --*count; }};
    }
    void answered(app::Nanos asked, const Facts& facts) { last_.emplace(asked, facts); }
    /// The last answer, if it was asked for less than `age` ago.
    [[nodiscard]] const Facts* last(app::Nanos now, app::Nanos age) const {
        return last_ && now - last_->first < age ? &last_->second : nullptr;
    }

  private:
    std::shared_ptr<std::size_t> waiting_ = std::make_shared<std::size_t>(0);
    std::optional<std::pair<app::Nanos, Facts>> last_;
};

}  // namespace cgpu::bus
