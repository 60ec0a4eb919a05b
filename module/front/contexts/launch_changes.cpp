#include "module/front/contexts/launch_changes.hpp"

#include "module/front/base/copy_mark.hpp"

namespace cgpu::front {

void LaunchChanges::note() {
    if (!marked_.exchange(true)) wipe_in_copies(&page_, sizeof page_);
    constexpr std::uint32_t kStep = 2;
    // Odd, and so never 0. Of changes at the same time any may be the last one: each is another number than
    // those before.
    page_.latest.exchange(counted_.fetch_add(kStep) | 1U);
}

}  // namespace cgpu::front
