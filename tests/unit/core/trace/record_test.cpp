#include "core/trace/record.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <limits>

namespace cgpu::trace {
namespace {

rc::Gen<Record> any_record() {
    return rc::gen::build<Record>(
        rc::gen::set(&Record::kind, rc::gen::map(rc::gen::arbitrary<std::uint16_t>(),
                                                 [](std::uint16_t kind) { return static_cast<Kind>(kind); })),
        rc::gen::set(&Record::track), rc::gen::set(&Record::begin), rc::gen::set(&Record::end),
        rc::gen::set(&Record::values), rc::gen::set(&Record::text));
}

std::vector<std::byte> with_length(std::uint32_t bytes) {
    std::vector<std::byte> stream;
    encode({Kind::left, 1, 2, 3, {}, {}}, stream);
    std::memcpy(stream.data(), &bytes, sizeof bytes);
    stream.resize(3000);
    return stream;
}

RC_GTEST_PROP(TraceRecord, AStreamIsReadAsItWasWrittenWhereverItIsCut, ()) {
    const auto records = *rc::gen::container<std::vector<Record>>(any_record());
    std::vector<std::byte> stream;
    for (const auto& record : records) encode(record, stream);
    const auto cut = *rc::gen::inRange<std::size_t>(0, stream.size() + 1);
    std::vector<Record> read;
    std::vector<std::byte> here;
    const auto feed = [&](std::size_t from, std::size_t to) {
        here.insert(here.end(), stream.begin() + static_cast<std::ptrdiff_t>(from),
                    stream.begin() + static_cast<std::ptrdiff_t>(to));
        for (auto decoded = decode(here); decoded.bytes > 0; decoded = decode(here)) {
            read.push_back(decoded.record);
            here.erase(here.begin(), here.begin() + static_cast<std::ptrdiff_t>(decoded.bytes));
        }
        RC_ASSERT(!decode(here).broken);
    };
    feed(0, cut);
    feed(cut, stream.size());
    RC_ASSERT(here.empty());
    RC_ASSERT(read == records);
}

TEST(TraceRecord, LongTextIsCut) {
    std::vector<std::byte> stream;
    encode({Kind::event, 0, 1, 1, {}, std::string(5000, 'x')}, stream);
    EXPECT_EQ(stream.size(), kFixedBytes + kMostText);
    EXPECT_EQ(decode(stream).record.text, std::string(kMostText, 'x'));
}

TEST(TraceRecord, ALengthThatNoRecordHasIsFoundOut) {
    for (const std::uint32_t bytes : {0U, 55U, 1057U, std::numeric_limits<std::uint32_t>::max()})
        EXPECT_TRUE(decode(with_length(bytes)).broken) << bytes;
    for (const std::uint32_t bytes : {56U, 57U, 1056U})
        EXPECT_FALSE(decode(with_length(bytes)).broken) << bytes;
}

}  // namespace
}  // namespace cgpu::trace
