// top: a live view of the node.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "client/cgpuctl/top/layout.hpp"
#include "client/cgpuctl/top/live.hpp"
#include "client/cgpuctl/top/screen/curses_screen.hpp"
#include "client/cgpuctl/top/top.hpp"

namespace cgpu::cgpuctl {
namespace top {
namespace {

using client::Result;

/// COLUMNS, if it has a width that can be used.
std::size_t width_of_environment() {
    constexpr std::size_t kDefault = 80;
    constexpr std::size_t kMost = 500;
    const char* const text = std::getenv("COLUMNS");
    if (text == nullptr) return kDefault;
    const std::string_view digits = text;
    std::size_t width = 0;
    const auto [rest, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), width);
    const bool good = fault == std::errc() && rest == digits.data() + digits.size();
    return good && width > 0 && width <= kMost ? width : kDefault;
}

std::string without_blanks_at_the_end(std::string text) {
    text.resize(text.find_last_not_of(' ') + 1);
    return text;
}

Result<void> run_batch(const Options& options, client::Node& node, Terminal& terminal,
                       const smi::Clock& clock) {
    const bool utf8 = use_locale_of_environment();
    const std::size_t width = width_of_environment();
    Session session(options.delay);
    auto next = clock.now();
    for (std::uint32_t done = 1;; ++done) {
        auto reading = smi::take_reading(node, clock);
        if (!reading && done == 1) return tl::unexpected(reading.error());
        if (reading) {
            session.took(std::move(*reading));
            if (done > 1) terminal.out() << '\n';
            for (const Line& line : frame(session, width, utf8))
                terminal.out() << without_blanks_at_the_end(text_of(line)) << '\n';
            terminal.out() << std::flush;
        } else {
            session.failed(reading.error());
            terminal.error(reading.error().text);
        }
        if (done == options.count || !terminal.out()) return {};
        next = std::max(next + options.delay, clock.now());
        clock.sleep_until(next);
    }
}

}  // namespace
}  // namespace top

client::Result<void> top_verb(const TopInput& input, client::Node& node, Terminal& terminal) {
    const auto options = top::read_options(input);
    if (!options) return tl::unexpected(options.error());
    const auto clock = smi::system_clock();
    if (options->batch) return top::run_batch(*options, node, terminal, clock);
    if (!is_terminal(STDIN_FILENO) || !is_terminal(STDOUT_FILENO))
        return client::fail(
            client::ClientError::Kind::usage,
            "cgpuctl top: standard input and output must be a terminal that can be drawn on. Try: "
            "cgpuctl top --batch --count 1.");
    return top::run_live(*options, node, clock, wants_color(STDOUT_FILENO));
}

}  // namespace cgpu::cgpuctl
