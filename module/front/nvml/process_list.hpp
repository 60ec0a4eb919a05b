#pragma once

#include <algorithm>

#include "core/wire/message.hpp"
#include "module/front/base/buffer.hpp"

namespace cgpu::front {

/// The instance's processes on one GPU, in ascending order of pid.
class ProcessList {
  public:
    void clear() { size_ = 0; }
    /// Appends a page. False: there is no memory for it.
    bool add(const wire::Processes& page) {
        if (size_ + page.count > uses_.room() && !uses_.grow((size_ + page.count) * 2)) return false;
        std::copy_n(page.uses, page.count, uses_.data() + size_);
        size_ += page.count;
        return true;
    }

    [[nodiscard]] unsigned size() const { return static_cast<unsigned>(size_); }
    [[nodiscard]] const wire::ProcessUse* begin() const { return uses_.data(); }
    [[nodiscard]] const wire::ProcessUse* end() const { return uses_.data() + size_; }
    [[nodiscard]] unsigned last_pid() const { return size_ == 0 ? 0 : end()[-1].pid; }
    /// Null if there is none with this pid.
    [[nodiscard]] const wire::ProcessUse* find(unsigned pid) const {
        const auto* found = std::ranges::lower_bound(begin(), end(), pid, {}, &wire::ProcessUse::pid);
        return found != end() && found->pid == pid ? found : nullptr;
    }

  private:
    Buffer<wire::ProcessUse> uses_;
    std::size_t size_ = 0;
};

}  // namespace cgpu::front
