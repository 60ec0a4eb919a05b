#include "module/front/compute/thread_grant.hpp"

#include "module/front/session/session.hpp"

namespace cgpu::front {

namespace detail {
thread_local constinit ThreadGrant this_grant;
}  // namespace detail

void ThreadGrant::end() {
    const std::uint32_t launches = free + left;
    if (launches != 0 && context->gpu >= 0)
        session().engine().return_time(static_cast<std::uint32_t>(context->gpu), batch, launches, time_ns);
    *this = ThreadGrant{};
}

}  // namespace cgpu::front
