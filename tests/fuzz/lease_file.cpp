// The lease file. The first byte says how to take the rest: even, as the file; odd, as records behind a sound
// header of the version without checks. Then leases are added to what was read and removed from it, and all
// is read again.
#include "daemon/store/lease_file.hpp"

#include <cstring>

#include "daemon/app/memory/pool/lease_pool.hpp"
#include "tests/fuzz/support/input.hpp"
#include "tests/fuzz/support/scratch.hpp"

namespace cgpu::fuzz {
namespace {

using store::LeaseFile;
using store::LeaseFileHeader;
using store::LeaseRecord;

std::string behind_a_header(std::span<const std::byte> records) {
    LeaseFileHeader header{};
    header.magic = LeaseFileHeader::kMagic;
    header.version = LeaseFileHeader::kUnchecked;  // what is made up has no checks
    header.record_bytes = sizeof(LeaseRecord);
    std::string file(reinterpret_cast<const char*>(&header), sizeof header);
    for (std::size_t at = 0; at < records.size(); at += sizeof(LeaseRecord)) {
        const auto part = records.subspan(at, std::min(sizeof(LeaseRecord), records.size() - at));
        file.append(reinterpret_cast<const char*>(part.data()), part.size());
    }
    file.resize((file.size() + sizeof(LeaseRecord) - 1) / sizeof(LeaseRecord) * sizeof(LeaseRecord));
    return file;
}

void check(const std::vector<app::LeaseTable::Saved>& all) {
    for (const auto& saved : all) {
        must(saved.key.process.pid > 0, "a lease is a process's");
        must(saved.amounts.lease % wire::kGranule == 0, "leases are whole granules");
        must(saved.amounts.lease <= app::kUnlimited && saved.amounts.unsized <= app::kUnlimited,
             "sums of leases can't overflow");
    }
}

bool same(const std::vector<app::LeaseTable::Saved>& a, const std::vector<app::LeaseTable::Saved>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& other) {
        return one.place == other.place && one.key == other.key && one.amounts == other.amounts;
    });
}

void change(LeaseFile& file) {
    const app::LeaseKey key{{{*model::InstanceId::parse("new"), 3}, model::Uuid(model::Uuid::Raw{9})},
                            {77, 5, "boot"}};
    const auto count = file.saved().size();
    const auto place = file.add(key);
    must(place.has_value(), "there is room for a lease");
    file.set(*place, {wire::kGranule, 5});
    file.set_context_size({key.pool.gpu, wire::kGranule});
    if (count > 0) file.remove(file.saved().front().place);
    must(file.saved().size() == (count > 0 ? count : 1), "leases come and go one by one");
}

}  // namespace
}  // namespace cgpu::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cgpu;
    static const fuzz::Scratch scratch;
    fuzz::Input input(data, size);
    const bool records = input.byte() % 2 == 1;
    const auto text = records ? fuzz::behind_a_header(input.bytes()) : std::string(input.text());
    const auto path = scratch.write("leases", text);
    std::vector<app::LeaseTable::Saved> before;
    std::vector<app::LeaseTable::ContextSize> sizes;
    {
        const auto file = store::LeaseFile::open(path);
        if (!file) {
            fuzz::must_be_a_refusal(file.error().text);
            return 0;
        }
        fuzz::check((*file)->saved());
        fuzz::must(!(*file)->damaged() || (*file)->saved().empty(), "of a damaged file nothing is used");
        fuzz::change(**file);
        before = (*file)->saved();
        sizes = (*file)->context_sizes();
    }
    const auto again = store::LeaseFile::open(path);
    fuzz::must(again && !(*again)->damaged(), "what was written can be read");
    fuzz::must(fuzz::same((*again)->saved(), before), "leases outlive the daemon");
    fuzz::must((*again)->context_sizes() == sizes, "sizes of contexts outlive the daemon");
    return 0;
}
