#include "client/cgpuctl/report/local_time.hpp"

#include <array>
#include <ctime>

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

std::string minute_text(std::uint64_t us) {
    const auto parts = local(us);
    std::array<char, 64> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", &parts);
    return text.data();
}

std::string second_text(std::uint64_t us) {
    const auto parts = local(us);
    std::array<char, 64> text{};
    std::strftime(text.data(), text.size(), "%H:%M:%S", &parts);
    return text.data();
}

std::string day_text(std::uint64_t us) {
    const auto minute = minute_text(us);
    return minute.substr(0, minute.find(' '));
}

std::string clock_text(std::uint64_t us) {
    const auto minute = minute_text(us);
    return minute.substr(minute.find(' ') + 1);
}

std::uint64_t day_begin(std::uint64_t us) { return midnight(us, 0); }
std::uint64_t day_end(std::uint64_t us) { return midnight(us, 1); }

}  // namespace cgpu::cgpuctl::report
