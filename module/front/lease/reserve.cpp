#include "module/front/lease/reserve.hpp"

#include "module/front/lease/gives.hpp"
#include "module/front/lease/pool_frees.hpp"
#include "module/front/lease/pools.hpp"
#include "module/front/session/session.hpp"

namespace cgpu::front {
namespace {

constexpr std::int64_t kAskTimeout = 10 * kSecond;
constexpr int kTries = 64;
/// More than any card has; beyond it, rounding up could overflow.
constexpr std::uint64_t kAbsurd = std::uint64_t{1} << 56;

}  // namespace

std::int64_t ask_deadline() { return now_ns() + kAskTimeout; }

bool try_reserve(int gpu, std::uint64_t bytes, std::int64_t until) {
    if (bytes >= kAbsurd) return false;
    const auto index = static_cast<std::uint32_t>(gpu);
    // Other threads may take the grant, and if there is no memory for its accounts the engine refuses for
    // ever.
    for (int tries = 0; tries < kTries; ++tries) {
        const auto lacking = session().engine().reserve(index, bytes);
        if (lacking == 0) return true;
        if (!ask_for(gpu, lacking, until)) return false;
    }
    return false;
}

bool ask_for(int gpu, std::uint64_t bytes, std::int64_t until) {
    gives().settle();
    wire::Answer answer{};
    return session().link().ask(wire::Topic::lease, static_cast<std::uint32_t>(gpu), bytes, until, true,
                                answer) &&
           answer.why == wire::Why::none && answer.granted_bytes != 0;
}

CUresult refuse(int gpu, std::uint64_t bytes) {
    // If the daemon is away, its absence and not a limit was the reason. If the program ends at once for lack
    // of memory, the daemon still reads what it sent.
    session().link().tell(wire::Topic::refused, static_cast<std::uint32_t>(gpu), bytes);
    return kOutOfMemory;
}

CUresult reserve(int gpu, std::uint64_t bytes, std::int64_t until) {
    if (bytes >= kAbsurd) return refuse(gpu, bytes);
    for (int tries = 0; tries < kTries; ++tries) {
        const auto seen = pool_frees().progress(gpu);
        if (try_reserve(gpu, bytes, until)) return kSuccess;
        if (!pools().any(gpu)) break;
        // The driver, too, uses what pools keep for later and waits for frees under way before it reports
        // that there is no memory.
        pools().trim(gpu);
        if (try_reserve(gpu, bytes, until)) return kSuccess;
        if (!pool_frees().wait_for_progress(gpu, seen, until)) break;
    }
    return refuse(gpu, bytes);
}

}  // namespace cgpu::front
