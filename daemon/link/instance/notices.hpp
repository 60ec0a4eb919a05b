#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/wire/message.hpp"
#include "daemon/app/events/repeated.hpp"
#include "daemon/link/base/settings.hpp"
#include "daemon/link/instance/notice_log.hpp"

namespace cgpu::link {

/// What fronts of an instance tell for the log, and what is told of those that can't. Programs that get no
/// driver become events, for each reason as rarely as app::Repeated says.
class Notices {
  public:
    /// All of these outlive it. `instance`: its current state.
    Notices(const model::Instance& instance, const Outside& outside, NoticeLog& log)
        : instance_(instance), outside_(outside), log_(log) {}

    /// False: it is no event of the link's.
    [[nodiscard]] bool told(std::int32_t pid, const wire::Notice& notice);
    /// This process of the instance has fronts, but can't reach the link.
    void cut_off(std::int32_t pid);

  private:
    /// `reason`: a word, for queries. `text`: for the log, with quoted words of others in it.
    void unreachable(std::int32_t pid, const std::string& reason, const std::string& text);

    const model::Instance& instance_;
    const Outside& outside_;
    NoticeLog& log_;
    std::map<std::string, app::Repeated> unreachable_;  ///< by their reasons
};

}  // namespace cgpu::link
