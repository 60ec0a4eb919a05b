#include "daemon/link/instance/notice_log.hpp"

#include <utility>

namespace cgpu::link {

void NoticeLog::write(std::int32_t pid, const std::string& text) {
    if (loop_.now() - began_ > kWindow) {
        tell_unwritten();
        began_ = loop_.now();
        lines_ = 0;
    }
    if (lines_ == kMost || !of_user_.take(user_)) {
        ++unwritten_;
        return;
    }
    ++lines_;
    auto about = about_;
    about.process = pid;
    log::warn(about, "instance {}: process {}: {}", instance_, pid, text);
}

void NoticeLog::tell_unwritten() {
    const auto count = std::exchange(unwritten_, 0);
    if (count == 0) return;
    if (of_user_.take(user_))
        log::warn(about_, "instance {}: {} more such lines were left out", instance_, count);
    else
        of_user_.left_out(user_, count);
}

}  // namespace cgpu::link
