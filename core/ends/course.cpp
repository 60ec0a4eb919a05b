#include "core/ends/course.hpp"

#include <algorithm>

namespace cgpu::ends {

using model::kSecond;

Next next(const model::TimeLimit& time, bool told, const Settings& settings) {
    if (time.closed) return {};
    if (time.over) return {Step::close, time.ends + settings.grace};
    // Who asks for less knows that it ends soon.
    const bool tells =
        settings.soon > 0 && time.seconds > static_cast<std::uint64_t>(settings.soon / kSecond);
    if (tells && !told) return {Step::tell_soon, time.ends - settings.soon};
    return {Step::end, time.ends};
}

model::TimeLimit extended(const model::TimeLimit& time, std::uint64_t seconds, Nanos now) {
    return {time.seconds + seconds, std::max(time.ends, now) + static_cast<Nanos>(seconds) * kSecond};
}

std::uint64_t left(const model::TimeLimit& time, Nanos now) {
    if (now >= time.ends) return 0;
    return static_cast<std::uint64_t>((time.ends - now + kSecond - 1) / kSecond);
}

}  // namespace cgpu::ends
