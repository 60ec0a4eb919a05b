#include "client/cgpuctl/report/local_time.hpp"

#include <ctime>

#include "client/cgpuctl/output/format.hpp"

namespace cgpu::cgpuctl::report {
namespace {

constexpr std::uint64_t kSecond = 1'000'000;

std::tm local(std::uint64_t us) {
    const auto time = static_cast<std::time_t>(us / kSecond);
    std::tm parts{};
    localtime_r(&time, &parts);
    return parts;
}

std::uint64_t midnight(std::uint64_t us, int days) {
    auto parts = local(us);
    parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
    parts.tm_mday += days;
    parts.tm_isdst = -1;
    const auto time = std::mktime(&parts);
    return time < 0 ? 0 : static_cast<std::uint64_t>(time) * kSecond;
}

}  // namespace

// Parts of `2026-01-31 08:15:00`.
std::string minute_text(std::uint64_t us) { return time_text(us / kSecond).substr(0, 16); }
std::string second_text(std::uint64_t us) { return time_text(us / kSecond).substr(11); }
std::string day_text(std::uint64_t us) { return time_text(us / kSecond).substr(0, 10); }
std::string clock_text(std::uint64_t us) { return time_text(us / kSecond).substr(11, 5); }

std::uint64_t day_begin(std::uint64_t us) { return midnight(us, 0); }
std::uint64_t day_end(std::uint64_t us) { return midnight(us, 1); }

}  // namespace cgpu::cgpuctl::report
