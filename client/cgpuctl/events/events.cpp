#include <algorithm>
#include <chrono>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "client/cgpuctl/base/event_types.hpp"
#include "client/cgpuctl/events/event.hpp"
#include "client/cgpuctl/events/events.hpp"
#include "client/cgpuctl/events/journal.hpp"
#include "client/cgpuctl/events/since.hpp"
#include "client/cgpuctl/output/values.hpp"
#include "core/model/gpu_word.hpp"
#include "core/model/quote.hpp"
#include "core/model/similar.hpp"

namespace cgpu::cgpuctl {
namespace {

/// With --follow and without --since: as many as journalctl shows.
constexpr std::uint32_t kLastOnes = 10;

std::uint64_t now_us() {
    const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(since_1970).count());
}

/// What the options say about where to begin.
struct Beginning {
    std::uint64_t since_us = 0;         ///< since 1970; 0: all that is kept
    std::optional<std::uint32_t> last;  ///< only so many before what is still to come
};

client::Result<Beginning> read_beginning(const EventsInput& input) {
    Beginning beginning;
    if (!input.since.empty()) {
        const auto since = parse_since(input.since, now_us());
        if (!since) return tl::unexpected(since.error());
        beginning.since_us = *since;
    }
    if (!input.lines.empty()) {
        const auto lines = read_count("--lines", input.lines);
        if (!lines) return tl::unexpected(lines.error());
        beginning.last = *lines;
    } else if (input.follow && input.since.empty()) {
        beginning.last = kLastOnes;
    }
    return beginning;
}

/// A type that no event has would print nothing, as if nothing had happened.
client::Result<void> check_type(const std::string& type) {
    if (type.empty() || std::ranges::find(kEventTypes, type) != kEventTypes.end()) return {};
    const std::vector<std::string_view> known(kEventTypes.begin(), kEventTypes.end());
    const auto likely = model::most_similar(type, known);
    return client::fail(
        client::ClientError::Kind::usage,
        "--type " + model::quote(type) + ": no event has this type. Try: " +
            (likely.empty() ? "see cgpud(8), which lists the types" : "--type " + std::string(likely)) + ".");
}

/// A GPU as an event can have it: its PCI address is cgpud's to find.
client::Result<std::string> gpu_in_events(const std::string& gpu, client::Node& node) {
    if (gpu.empty()) return gpu;
    const auto word = model::parse_gpu_word(gpu);
    if (!word)
        return client::fail(
            client::ClientError::Kind::not_found,
            "GPU " + model::quote(gpu) + ": it is no index, UUID or PCI address of a GPU. Try: --gpu 0.");
    return std::holds_alternative<model::PciAddress>(*word) ? node.find_gpu(gpu) : gpu;
}

}  // namespace

client::Result<void> events(const EventsInput& input, client::Node& node, Terminal& terminal) {
    // Wrong options are told where there is no journal, too.
    if (auto checked = check_type(input.type); !checked) return checked;
    const auto beginning = read_beginning(input);
    if (!beginning) return tl::unexpected(beginning.error());
    const auto gpu = gpu_in_events(input.gpu, node);
    if (!gpu) return tl::unexpected(gpu.error());
    auto journal = Journal::open(input.type);
    if (!journal) return tl::unexpected(journal.error());
    const EventFilter filter{input.instance, *gpu, input.type, beginning->since_us};
    const auto begun = beginning->last ? journal->begin_with_last(*beginning->last, filter)
                                       : journal->begin_at(beginning->since_us);
    if (!begun) return tl::unexpected(begun.error());
    bool heads = !input.json && !input.no_legend;
    while (terminal.out()) {
        auto event = journal->next();
        if (!event) return tl::unexpected(event.error());
        if (*event && matches(filter, **event)) {
            if (std::exchange(heads, false)) terminal.heading(event_heading());
            terminal.out() << (input.json ? event_json(**event) : event_line(**event)) << '\n';
        }
        if (*event) continue;
        if (!input.follow) break;
        terminal.out().flush();
        if (const auto waited = journal->wait(); !waited) return tl::unexpected(waited.error());
    }
    return {};
}

}  // namespace cgpu::cgpuctl
