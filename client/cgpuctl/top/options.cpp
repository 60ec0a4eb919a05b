#include "client/cgpuctl/top/options.hpp"

#include <charconv>
#include <cmath>

#include "client/cgpuctl/output/values.hpp"
#include "core/model/quote.hpp"

namespace cgpu::cgpuctl::top {
namespace {

using client::ClientError;

constexpr double kShortest = 0.1;
constexpr double kLongest = 3600;

client::Result<std::chrono::milliseconds> read_delay(const std::string& text) {
    double seconds = 0;
    const char* end = text.data() + text.size();
    const auto [rest, fault] = std::from_chars(text.data(), end, seconds, std::chars_format::fixed);
    if (fault != std::errc() || rest != end || !(seconds >= kShortest) || !(seconds <= kLongest))
        return client::fail(ClientError::Kind::usage,
                            "--delay " + model::quote(text) +
                                ": it is no number of seconds from 0.1 to 3600. Try: --delay 2.");
    return std::chrono::milliseconds{std::lround(seconds * 1000)};
}

}  // namespace

client::Result<Options> read_options(const TopInput& input) {
    Options options;
    options.batch = input.batch;
    options.sure = input.yes;
    options.local = input.host.empty();
    if (!input.delay.empty()) {
        const auto delay = read_delay(input.delay);
        if (!delay) return tl::unexpected(delay.error());
        options.delay = *delay;
    }
    if (!input.count.empty()) {
        const auto count = read_count("--count", input.count);
        if (!count) return tl::unexpected(count.error());
        if (*count == 0)
            return client::fail(ClientError::Kind::usage,
                                "--count 0: nothing would be read. Try: use 1 or more.");
        options.count = *count;
    }
    return options;
}

}  // namespace cgpu::cgpuctl::top
