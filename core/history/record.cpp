#include "core/history/record.hpp"

#include <cmath>
#include <string_view>

#include "core/history/checksum.hpp"
#include "core/history/fields.hpp"

namespace cgpu::history {
namespace {

/// "Hcg3". Records of another layout need another one, which differs in several bits: it is not in the
/// checksum.
constexpr std::uint32_t kRecordMagic = 0x33676348;
/// "cgH1": of former releases, without the memory over the time, and without counts of instances.
constexpr std::uint32_t kFirstMagic = 0x31486763;
/// "cgH2": the same with a declared owner behind a shorter name.
constexpr std::uint32_t kDeclaredMagic = 0x32486763;
constexpr std::uint64_t kMeasured = 1;
constexpr std::uint64_t kEnded = 2;
/// Without it the owner's bytes are 0.
constexpr std::uint64_t kHasOwner = 4;

constexpr std::size_t kChecked = 8;  ///< the checksum is of everything from here
constexpr std::size_t kMoreAt = 128;
/// The lengths of the three texts, and then these.
constexpr std::size_t kLengthsAt = kMoreAt + 3 * sizeof(std::uint64_t) + 5 * sizeof(std::uint32_t);
constexpr std::size_t kTextsAt = kLengthsAt + 3;
static_assert(kTextsAt + kMostInstanceBytes + model::kMaxOwnerName < kRecordBytes);

// Of the former layouts.
constexpr std::size_t kInstanceAt = 128;
constexpr std::size_t kNameAt = kInstanceAt + kMostInstanceBytes;
constexpr std::size_t kMostNameBesideOwner = kMostNameBytes - model::kMaxOwnerName - 1;
constexpr std::size_t kDeclaredAt = kNameAt + kMostNameBesideOwner + 1;
static_assert(kNameAt + kMostNameBytes < kRecordBytes);
static_assert(kDeclaredAt + model::kMaxOwnerName <= kRecordBytes);

/// A year that no clock shows, and a duration that no interval has: sums of both can't overflow.
constexpr std::uint64_t kMostUs = std::uint64_t{1} << 56U;
/// The most of any other figure, so that a node's sums can't overflow.
constexpr std::uint64_t kMostFigure = std::uint64_t{1} << 62U;
constexpr double kMibBytes = 1 << 20;
constexpr double kUsOfMs = 1000;

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

template <class Fields, class Some>
void each_newer_figure(Fields& fields, Some& record) {
    fields.number(record.present_us);
    fields.number(record.memory_granted);
    fields.number(record.memory_used);
    fields.number(record.instances.all);
    fields.number(record.instances.began);
    fields.number(record.on_first_gpu.all);
    fields.number(record.on_first_gpu.began);
    fields.number(record.refused_starts);
}

bool sane(const Record& record) {
    const auto small = [](std::uint64_t figure) { return figure < kMostFigure; };
    return record.number > 0 && record.begin_us < kMostUs && record.duration_us < kMostUs &&
           small(record.number) && small(record.reported_ns) && small(record.granted_ns) &&
           small(record.due_ns) && record.present_us < kMostUs && small(record.memory_granted) &&
           small(record.memory_used);
}

/// False: the lengths are those of no texts.
bool read_texts(std::span<const std::byte> bytes, Record& record) {
    Reader in(bytes);
    in.at(kLengthsAt);
    std::size_t place = kTextsAt;
    for (std::string* text : {&record.instance, &record.owner.declared, &record.name}) {
        std::uint8_t length = 0;
        in.number(length);
        if (place + length > bytes.size()) return false;
        *text = Reader(bytes).at(place).text(length);
        place += length;
    }
    return true;
}

void read_former_texts(std::span<const std::byte> bytes, bool declared, Record& record) {
    Reader in(bytes);
    record.instance = in.at(kInstanceAt).text(kMostInstanceBytes);
    record.name = in.at(kNameAt).text(declared ? kMostNameBesideOwner : kMostNameBytes);
    if (declared) record.owner.declared = in.at(kDeclaredAt).text(model::kMaxOwnerName);
    // The limit at its end is the best that is known. What was used nobody knows.
    record.memory_granted = mib_ms(record.memory_limit, record.duration_us);
    record.present_us = record.duration_us;
}

}  // namespace

std::uint64_t mib_ms(std::uint64_t bytes, std::uint64_t us) {
    return static_cast<std::uint64_t>(
        std::llround(static_cast<double>(bytes) / kMibBytes * (static_cast<double>(us) / kUsOfMs)));
}

Record sum_of(const Record& record, const std::string& name) {
    Record sum = record;
    sum.number = 0;
    sum.name = name;
    sum.instance.clear();
    // Of each record the larger one of both may be billed, and the sums of both would lose that.
    sum.granted_ns = record.gpu_ns();
    sum.ended = false;
    return sum;
}

void prolong(Record& record, const Record& more) {
    record.duration_us += more.duration_us;
    record.begin_us = more.end_us() - std::min(more.end_us(), record.duration_us);
    record.present_us += more.present_us;
    record.due_ns += more.due_ns;
    record.memory_granted += more.memory_granted;
    record.memory_used += more.memory_used;
    record.memory_limit = more.memory_limit;
    record.memory_peak = std::max(record.memory_peak, more.memory_peak);
    record.gpu_index = more.gpu_index;
    record.measured = more.measured;
    record.ended = more.ended;
}

void add(Record& sum, const Record& record) {
    const auto covered_until = sum.end_us();
    const auto end_us = std::max(covered_until, record.end_us());
    // Those of one interval come together, so what is before the end was counted.
    if (record.instance.empty() || record.begin_us >= covered_until)
        sum.present_us += record.present_us;
    else
        sum.present_us += end_us - covered_until;
    sum.begin_us = std::min(sum.begin_us, record.begin_us);
    sum.duration_us = end_us - sum.begin_us;
    sum.gpu_index = record.gpu_index;
    sum.reported_ns += record.reported_ns;
    sum.granted_ns += record.gpu_ns();
    sum.due_ns += record.due_ns;
    sum.waited_ns += record.waited_ns;
    sum.launches += record.launches;
    sum.refused += record.refused;
    sum.memory_limit = std::max(sum.memory_limit, record.memory_limit);
    sum.memory_peak = std::max(sum.memory_peak, record.memory_peak);
    sum.memory_granted += record.memory_granted;
    sum.memory_used += record.memory_used;
    sum.instances += record.instances;
    sum.on_first_gpu += record.on_first_gpu;
    sum.refused_starts += record.refused_starts;
    sum.measured = sum.measured || record.measured;
}

std::size_t most_name_bytes(std::size_t instance, std::size_t declared) {
    return std::min(kMostNameBytes, kRecordBytes - kTextsAt - std::min(instance, kMostInstanceBytes) -
                                        std::min(declared, model::kMaxOwnerName));
}

RecordBytes encode(const Record& record) {
    RecordBytes bytes{};
    Writer out(bytes);
    out.number(kRecordMagic);
    out.number(std::uint32_t{0});
    each_figure(out, record);
    out.number((record.measured ? kMeasured : 0) | (record.ended ? kEnded : 0) |
               (record.owner.user ? kHasOwner : 0));
    out.number(record.gpu_index);
    out.raw(record.gpu.raw());
    out.number(record.owner.user.value_or(0));
    each_newer_figure(out.at(kMoreAt), record);
    const auto instance = cut(record.instance, kMostInstanceBytes);
    const auto declared = cut(record.owner.declared, model::kMaxOwnerName);
    const auto name = cut(record.name, most_name_bytes(instance.size(), declared.size()));
    for (const auto text : {instance, declared, name}) out.number(static_cast<std::uint8_t>(text.size()));
    for (const auto text : {instance, declared, name}) out.text(text);
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
    const bool former = magic == kFirstMagic || magic == kDeclaredMagic;
    if ((magic != kRecordMagic && !former) || sum != checksum(bytes.subspan(kChecked))) return std::nullopt;
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
    if (!former) each_newer_figure(in.at(kMoreAt), record);
    // The checksum is right, so another program wrote it, or a fault that happened to fit.
    if (!sane(record)) return std::nullopt;
    if (former)
        read_former_texts(bytes, magic == kDeclaredMagic, record);
    else if (!read_texts(bytes, record))
        return std::nullopt;
    return record;
}

}  // namespace cgpu::history
