#pragma once

#include <cstdint>
#include <string>

#include "core/model/instance.hpp"
#include "daemon/app/ports/log.hpp"
#include "daemon/app/ports/loop.hpp"
#include "daemon/link/base/told.hpp"

namespace cgpu::link {

/// Writes lines caused by one instance to the log: at most kMost a minute, and how many were left out; less
/// if other instances of its user have caused many.
class NoticeLog {
  public:
    static constexpr std::uint32_t kMost = 20;
    static constexpr app::Nanos kWindow = 60'000'000'000;

    NoticeLog(const model::Instance& instance, UserLines& of_user, const app::Loop& loop)
        : about_(log::about(instance)),
          instance_(instance.id.short_id()),
          user_(instance.creator.value_or(0)),
          of_user_(of_user),
          loop_(loop) {}
    ~NoticeLog() { tell_unwritten(); }
    NoticeLog(const NoticeLog&) = delete;
    NoticeLog& operator=(const NoticeLog&) = delete;

    /// `text`: cgpud's own words, with quoted words of others in it.
    void write(std::int32_t pid, const std::string& text);

  private:
    void tell_unwritten();

    log::Subject about_;
    std::string instance_;
    std::uint32_t user_;  ///< of the instance
    UserLines& of_user_;
    const app::Loop& loop_;
    app::Nanos began_ = 0;
    std::uint32_t lines_ = 0;
    std::uint64_t unwritten_ = 0;
};

}  // namespace cgpu::link
