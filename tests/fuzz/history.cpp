// The file of the history. The first byte says how to take the rest: even, as the file; odd, as contents of
// records, which get their checksums. Then records are added, and all is read again in another size.
#include "daemon/store/history/history_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <limits>

#include "core/history/checksum.hpp"
#include "core/history/ring.hpp"
#include "core/history/totals.hpp"
#include "tests/fuzz/support/input.hpp"
#include "tests/fuzz/support/scratch.hpp"

namespace cgpu::fuzz {
namespace {

using history::Record;

std::string with_checksums(std::span<const std::byte> contents) {
    auto file = history::make_ring({}, 1);
    for (std::size_t at = 0; at < contents.size(); at += history::kRecordBytes) {
        const auto part = contents.subspan(at, std::min(history::kRecordBytes, contents.size() - at));
        history::RecordBytes place{};
        std::ranges::copy(part, place.begin());
        const auto magic = history::encode({.number = 1});
        std::copy_n(magic.begin(), 4, place.begin());
        const auto sum = history::checksum(std::span(place).subspan(8));
        for (std::size_t i = 0; i < 4; ++i) place[4 + i] = static_cast<std::byte>((sum >> (8 * i)) & 0xFFU);
        file.insert(file.end(), place.begin(), place.end());
    }
    return {reinterpret_cast<const char*>(file.data()), file.size()};
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

void check(const std::string& file, const std::vector<Record>& records) {
    const auto bytes = bytes_of(file);
    for (const Record& record : records) {
        const auto encoded = history::encode(record);
        bool found = false;
        for (std::size_t at = history::kHeaderBytes; !found && at + encoded.size() <= bytes.size();
             at += encoded.size())
            found = history::decode(bytes.subspan(at, encoded.size())) == record;
        must(found, "nothing is invented");
    }
    double sum = 0;
    for (const Record& record : records) sum += static_cast<double>(record.gpu_ns());
    const history::Span always{0, std::numeric_limits<std::uint64_t>::max()};
    for (const auto by : {history::By::name, history::By::gpu, history::By::day}) {
        double all = 0;
        for (const auto& total :
             history::totals(records, always, {by}, [](auto) { return std::string("day"); }))
            all += static_cast<double>(total.gpu_ns);
        must(all <= sum * 1.000001 + 1000, "no time is counted twice");
    }
}

std::vector<Record> read(store::HistoryFile& file) {
    const auto fd = file.open_for_reading();
    must(fd.has_value(), "it can be read");
    std::string content(1 << 20, '\0');
    const auto got = pread(*fd, content.data(), content.size(), 0);
    close(*fd);
    content.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return history::read_ring(bytes_of(content)).records;
}

}  // namespace
}  // namespace cgpu::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cgpu;
    static const fuzz::Scratch scratch;
    fuzz::Input input(data, size);
    const bool records = input.byte() % 2 == 1;
    const auto text = records ? fuzz::with_checksums(input.bytes()) : std::string(input.text());
    auto all = history::read_ring(fuzz::bytes_of(text)).records;
    fuzz::check(text, all);
    const auto path = scratch.write("history", text);
    // Numbers near the end of what fits are no node's.
    if (!all.empty() && all.back().number > (std::uint64_t{1} << 60U)) return 0;
    const auto newest = [&all](std::size_t most) {
        return std::vector(all.end() - static_cast<std::ptrdiff_t>(std::min(most, all.size())), all.end());
    };
    for (const std::size_t capacity : {16U, 7U, 7U, 33U}) {
        const auto file = store::HistoryFile::open(path, history::ring_bytes(capacity));
        if (!file) {
            fuzz::must_be_a_refusal(file.error().text);
            return 0;
        }
        all = newest(capacity);
        // Numbers with gaps fight for places, and a file that is made anew has others.
        const auto kept = fuzz::read(**file);
        for (const auto& record : kept)
            fuzz::must(std::ranges::any_of(all,
                                           [&record](history::Record each) {
                                               each.number = record.number;
                                               return each == record;
                                           }),
                       "records outlive the daemon, in any size");
        all = kept;
        std::vector<history::Record> added(2);
        (*file)->append(added);
        fuzz::must(added[1].number > added[0].number, "numbers grow");
        all = fuzz::read(**file);
        fuzz::must(std::ranges::count(all, added[1]) == 1, "the newest record is there");
    }
    return 0;
}
