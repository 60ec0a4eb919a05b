#include "core/trace/record.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace cgpu::trace {
namespace {

/// As on the stream.
struct Fixed {
    std::uint32_t bytes;
    std::uint16_t kind;
    std::uint16_t track;
    std::int64_t begin;
    std::int64_t end;
    std::array<std::int64_t, 4> values;
};
static_assert(sizeof(Fixed) == kFixedBytes && std::has_unique_object_representations_v<Fixed>);

}  // namespace

void encode(const Record& record, std::vector<std::byte>& out) {
    const auto text = std::span(record.text).first(std::min(record.text.size(), kMostText));
    const Fixed fixed{static_cast<std::uint32_t>(kFixedBytes + text.size()),
                      static_cast<std::uint16_t>(record.kind),
                      record.track,
                      record.begin,
                      record.end,
                      record.values};
    const auto head = std::as_bytes(std::span(&fixed, 1));
    const auto tail = std::as_bytes(text);
    out.insert(out.end(), head.begin(), head.end());
    out.insert(out.end(), tail.begin(), tail.end());
}

Decoded decode(std::span<const std::byte> stream) {
    Fixed fixed{};
    Decoded out;
    if (stream.size() < sizeof fixed) return out;
    std::memcpy(&fixed, stream.data(), sizeof fixed);
    out.broken = fixed.bytes < kFixedBytes || fixed.bytes > kFixedBytes + kMostText;
    if (out.broken || stream.size() < fixed.bytes) return out;
    out.bytes = fixed.bytes;
    out.record = {static_cast<Kind>(fixed.kind), fixed.track, fixed.begin, fixed.end, fixed.values, {}};
    const auto text = stream.subspan(kFixedBytes, fixed.bytes - kFixedBytes);
    out.record.text.resize(text.size());
    if (!text.empty()) std::memcpy(out.record.text.data(), text.data(), text.size());
    return out;
}

}  // namespace cgpu::trace
