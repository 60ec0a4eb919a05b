#include <algorithm>
#include <chrono>
#include <ostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "client/cgpuctl/base/event_types.hpp"
#include "client/cgpuctl/base/verbs.hpp"
#include "client/cgpuctl/events/event.hpp"
#include "client/cgpuctl/events/journal.hpp"
#include "client/cgpuctl/events/since.hpp"
#include "core/model/gpu_word.hpp"
#include "core/model/quote.hpp"
#include "core/model/similar.hpp"

namespace cgpu::cgpuctl {
namespace {

/// With --follow and without --since: as many as journalctl shows.
constexpr std::size_t kLastOnes = 10;

std::uint64_t now_us() {
    const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(since_1970).count());
}

client::Result<void> begin(const Input& input, Journal& journal, const EventFilter& filter) {
    if (input.since.empty())
        return input.follow ? journal.begin_with_last(kLastOnes, filter) : journal.begin_at(0);
    const auto since = parse_since(input.since, now_us());
    if (!since) return tl::unexpected(since.error());
    return journal.begin_at(*since);
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

client::Result<void> events(const Input& input, client::Node& node, Terminal& terminal) {
    // Wrong options are told where there is no journal, too.
    if (auto checked = check_type(input.type); !checked) return checked;
    if (!input.since.empty())
        if (const auto since = parse_since(input.since, now_us()); !since)
            return tl::unexpected(since.error());
    const auto gpu = gpu_in_events(input.gpu, node);
    if (!gpu) return tl::unexpected(gpu.error());
    auto journal = Journal::open(input.type);
    if (!journal) return tl::unexpected(journal.error());
    const EventFilter filter{input.target, *gpu, input.type};
    if (const auto begun = begin(input, *journal, filter); !begun) return tl::unexpected(begun.error());
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
