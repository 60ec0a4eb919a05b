#include "daemon/link/instance/notice_log.hpp"

#include "daemon/app/ports/log.hpp"

namespace cgpu::link {

void NoticeLog::write(std::int32_t pid, const std::string& text) {
    if (loop_.now() - began_ > kWindow) {
        tell_unwritten();
        began_ = loop_.now();
        lines_ = 0;
    }
    if (lines_ == kMost) {
        ++unwritten_;
        return;
    }
    ++lines_;
    log::warn("instance {}: process {}: {}", instance_, pid, text);
}

void NoticeLog::tell_unwritten() {
    if (unwritten_ > 0) log::warn("instance {}: {} more such lines were left out", instance_, unwritten_);
    unwritten_ = 0;
}

}  // namespace cgpu::link
