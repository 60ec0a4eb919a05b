#include "module/front/memory/set_aside.hpp"

#include "module/front/lease/gives.hpp"
#include "module/front/lease/pools.hpp"
#include "module/front/lease/reserve.hpp"

namespace cgpu::front {
namespace {

constexpr std::int64_t kAnnounceTimeout = 100 * kMillisecond;
/// More than any card has.
constexpr std::uint64_t kAbsurd = std::uint64_t{1} << 48;

bool ask(wire::Topic topic, std::int64_t until, SetAsideMemory& aside, std::uint64_t bytes) {
    const auto gpu = static_cast<std::uint32_t>(aside.gpu);
    gives().settle();
    wire::Answer answer{};
    // The service thread undoes an answer that arrives later.
    if (!session().link().ask(topic, gpu, bytes, until, true, answer) || answer.why != wire::Why::none)
        return false;
    aside.bytes = answer.granted_bytes;
    aside.announced = true;
    return true;
}

/// Releases memory that this process can release itself. cgpud never recalls memory from the process that
/// asks.
void give_all(int gpu) {
    const auto index = static_cast<std::uint32_t>(gpu);
    if (pools().any(gpu)) pools().trim(gpu);
    gives().give(index, UINT64_MAX, 0);
}

}  // namespace

CUresult set_aside(wire::Topic topic, int gpu, std::uint64_t bytes, SetAsideMemory& aside) {
    aside = SetAsideMemory{};
    aside.gpu = gpu;
    if (!session().isolates(gpu)) return kSuccess;
    if (bytes >= kAbsurd) return refuse(gpu, bytes);
    const auto wanted = wire::align_up(bytes == 0 ? 1 : bytes);
    const auto until = ask_deadline();
    if (ask(topic, until, aside, wanted)) return kSuccess;
    give_all(gpu);
    return ask(topic, until, aside, wanted) ? kSuccess : refuse(gpu, wanted);
}

void announce_function(int gpu, SetAsideMemory& aside) {
    aside = SetAsideMemory{};
    aside.gpu = gpu;
    if (!session().isolates(gpu)) return;
    wire::Answer answer{};
    // Without a daemon, or with one that is late, the launch is not held up.
    aside.announced = session().link().ask(wire::Topic::load, static_cast<std::uint32_t>(gpu), 0,
                                           now_ns() + kAnnounceTimeout, false, answer) &&
                      answer.why == wire::Why::none;
}

void end_aside(const SetAsideMemory& aside, bool made) {
    if (!aside.announced) return;
    session().link().tell(made ? wire::Topic::made : wire::Topic::not_made,
                          static_cast<std::uint32_t>(aside.gpu), made ? 0 : aside.bytes);
}

}  // namespace cgpu::front
