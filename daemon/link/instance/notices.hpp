#pragma once

#include <cstdint>
#include <string>

#include "core/wire/message.hpp"
#include "daemon/app/events/repeated_by_user.hpp"
#include "daemon/link/instance/notice_log.hpp"

namespace cgpu::link {

/// What fronts of an instance tell for the log, and what is told of those that can't. Programs that get no
/// driver become events, for each reason as rarely as app::RepeatedByUser says.
class Notices {
  public:
    /// All of these outlive it. `instance`: its current state.
    Notices(const model::Instance& instance, NoticeLog& log, app::RepeatedByUser& unreachable)
        : instance_(instance), log_(log), unreachable_(unreachable) {}

    /// False: it is no event of the link's.
    [[nodiscard]] bool told(std::int32_t pid, const wire::Notice& notice);
    /// This process of the instance has fronts, but can't reach the link.
    void cut_off(std::int32_t pid);

  private:
    /// `reason`: a word, for queries. `text`: for the log, with quoted words of others in it.
    void unreachable(std::int32_t pid, const std::string& reason, const std::string& text);

    const model::Instance& instance_;
    NoticeLog& log_;
    app::RepeatedByUser& unreachable_;
};

}  // namespace cgpu::link
