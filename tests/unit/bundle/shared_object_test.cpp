#include "core/elf/shared_object.hpp"

#include <elf.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <optional>
#include <span>

#include "tests/unit/bundle/bundles.hpp"

namespace cgpu::elf {
namespace {

/// The engine that was built, as it is or corrupted.
class Image {
  public:
    [[nodiscard]] std::size_t size() const { return text_.size(); }
    void cut_off(std::size_t at) { text_.resize(at); }
    template <class T>
    void put(std::size_t offset, T value) {
        std::memcpy(text_.data() + offset, &value, sizeof value);
    }
    template <class T>
    [[nodiscard]] T get(std::size_t offset) const {
        T value{};
        std::memcpy(&value, text_.data() + offset, sizeof value);
        return value;
    }
    [[nodiscard]] ReadAt reader() const { return elf::reader(std::as_bytes(std::span(text_))); }
    [[nodiscard]] std::optional<std::string> why_not() const { return why_not_loadable(reader(), size()); }

  private:
    std::string text_ = bundle::text_in(CGPU_TEST_ENGINE);
};

TEST(SharedObject, TheBuiltEngineIsOne) { EXPECT_EQ(Image().why_not(), std::nullopt); }

/// Up to the end of its last segment; sections behind that are for debuggers.
TEST(SharedObject, EveryCutBeforeTheEndOfItsSegmentsIsSeen) {
    const Image whole;
    const auto header = whole.get<Elf64_Ehdr>(0);
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
        const auto segment = whole.get<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr));
        if (segment.p_type == PT_LOAD) end = std::max(end, segment.p_offset + segment.p_filesz);
    }
    for (const std::uint64_t length : {end - 1, end / 2, end / 3, std::uint64_t{70}, std::uint64_t{1}}) {
        Image image;
        image.cut_off(length);
        EXPECT_NE(image.why_not(), std::nullopt) << length;
    }
    Image image;
    image.cut_off(end);
    EXPECT_EQ(image.why_not(), std::nullopt);
}

TEST(SharedObject, OffsetsThatWrapAroundAreSeen) {
    Image image;
    const auto header = image.get<Elf64_Ehdr>(0);
    image.put(offsetof(Elf64_Ehdr, e_phoff), ~std::uint64_t{0} - 63);
    EXPECT_NE(image.why_not(), std::nullopt);
    image.put(offsetof(Elf64_Ehdr, e_phoff), header.e_phoff);
    image.put(header.e_phoff + offsetof(Elf64_Phdr, p_offset), ~std::uint64_t{0} - 15);
    image.put(header.e_phoff + offsetof(Elf64_Phdr, p_type), std::uint32_t{PT_LOAD});
    EXPECT_NE(image.why_not(), std::nullopt);
}

/// Headers and tables say where to read: whatever they say, nothing outside the image is read.
RC_GTEST_PROP(SharedObject, NoBytesBreakItsReaders, ()) {
    Image image;
    const std::size_t changes = *rc::gen::inRange<std::size_t>(1, 6);
    const bool at_its_head = *rc::gen::arbitrary<bool>();
    const std::size_t within = at_its_head ? 1024 : image.size();
    for (std::size_t i = 0; i < changes; ++i)
        image.put(*rc::gen::inRange<std::size_t>(0, within - sizeof(std::uint64_t)),
                  *rc::gen::arbitrary<std::uint64_t>());
    if (*rc::gen::arbitrary<bool>()) image.cut_off(*rc::gen::inRange<std::size_t>(0, image.size()));
    const auto why = image.why_not();
    if (why) RC_ASSERT(!why->empty());
    const auto exports = exported_symbols(image.reader());
    if (!exports) RC_ASSERT(!exports.error().empty());
}

}  // namespace
}  // namespace cgpu::elf
