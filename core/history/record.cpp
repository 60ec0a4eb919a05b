#include "core/history/record.hpp"

#include <string_view>

#include "core/history/checksum.hpp"
#include "core/history/fields.hpp"

namespace cgpu::history {
namespace {

/// "cgH1". Records of another layout need another one.
constexpr std::uint32_t kRecordMagic = 0x31486763;
/// "cgH2": a declared owner lies behind a shorter name.
constexpr std::uint32_t kDeclaredMagic = 0x32486763;
constexpr std::uint64_t kMeasured = 1;
constexpr std::uint64_t kEnded = 2;
/// Without it the owner's bytes are 0.
constexpr std::uint64_t kHasOwner = 4;

constexpr std::size_t kChecked = 8;  ///< the checksum is of everything from here
constexpr std::size_t kInstanceAt = 128;
constexpr std::size_t kNameAt = kInstanceAt + kMostInstanceBytes;
constexpr std::size_t kDeclaredAt = kNameAt + kMostNameBesideOwner + 1;
static_assert(kNameAt + kMostNameBytes < kRecordBytes);
static_assert(kDeclaredAt + model::kMaxOwnerName <= kRecordBytes);
/// A year that no clock shows, and a duration that no interval has: sums of both can't overflow.
constexpr std::uint64_t kMostUs = std::uint64_t{1} << 56U;
/// The most of any other figure, so that a node's sums can't overflow.
constexpr std::uint64_t kMostFigure = std::uint64_t{1} << 62U;

/// At most so many bytes, without a part of a character of UTF-8.
std::string_view cut(std::string_view text, std::size_t most) {
    if (text.size() <= most) return text;
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
    return text.substr(0, most);
}

/// The fields in their order, for both directions.
template <class Fields, class Some>
void each_figure(Fields& fields, Some& record) {
    fields.number(record.number);
    fields.number(record.begin_us);
    fields.number(record.duration_us);
    fields.number(record.reported_ns);
    fields.number(record.granted_ns);
    fields.number(record.due_ns);
    fields.number(record.waited_ns);
    fields.number(record.launches);
    fields.number(record.refused);
    fields.number(record.memory_limit);
    fields.number(record.memory_peak);
}

bool sane(const Record& record) {
    const auto small = [](std::uint64_t figure) { return figure < kMostFigure; };
    return record.number > 0 && record.begin_us < kMostUs && record.duration_us < kMostUs &&
           small(record.number) && small(record.reported_ns) && small(record.granted_ns) &&
           small(record.due_ns);
}

}  // namespace

RecordBytes encode(const Record& record) {
    RecordBytes bytes{};
    Writer out(bytes);
    const bool declared = !record.owner.declared.empty();
    out.number(declared ? kDeclaredMagic : kRecordMagic);
    out.number(std::uint32_t{0});
    each_figure(out, record);
    out.number((record.measured ? kMeasured : 0) | (record.ended ? kEnded : 0) |
               (record.owner.user ? kHasOwner : 0));
    out.number(record.gpu_index);
    out.raw(record.gpu.raw());
    out.number(record.owner.user.value_or(0));
    out.at(kInstanceAt).text(cut(record.instance, kMostInstanceBytes));
    out.at(kNameAt).text(cut(record.name, declared ? kMostNameBesideOwner : kMostNameBytes));
    if (declared) out.at(kDeclaredAt).text(cut(record.owner.declared, model::kMaxOwnerName));
    out.at(sizeof kRecordMagic).number(checksum(std::span(bytes).subspan(kChecked)));
    return bytes;
}

std::optional<Record> decode(std::span<const std::byte> bytes) {
    if (bytes.size() != kRecordBytes) return std::nullopt;
    Reader in(bytes);
    std::uint32_t magic = 0;
    std::uint32_t sum = 0;
    in.number(magic);
    in.number(sum);
    const bool declared = magic == kDeclaredMagic;
    if ((magic != kRecordMagic && !declared) || sum != checksum(bytes.subspan(kChecked))) return std::nullopt;
    Record record;
    std::uint64_t flags = 0;
    std::uint32_t owner = 0;
    model::Uuid::Raw raw{};
    each_figure(in, record);
    in.number(flags);
    in.number(record.gpu_index);
    in.raw(raw);
    in.number(owner);
    record.gpu = model::Uuid(raw);
    record.measured = (flags & kMeasured) != 0;
    record.ended = (flags & kEnded) != 0;
    if ((flags & kHasOwner) != 0) record.owner.user = owner;
    record.instance = in.at(kInstanceAt).text(kMostInstanceBytes);
    record.name = in.at(kNameAt).text(declared ? kMostNameBesideOwner : kMostNameBytes);
    if (declared) record.owner.declared = in.at(kDeclaredAt).text(model::kMaxOwnerName);
    // The checksum is right, so another program wrote it, or a fault that happened to fit.
    if (!sane(record)) return std::nullopt;
    return record;
}

}  // namespace cgpu::history
