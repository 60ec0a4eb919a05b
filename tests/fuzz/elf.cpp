// ELF images. The first byte says what the input is. Even: a driver, to which a sound front is fitted. Odd: a
// front, which is fitted to a sound driver. A front comes from the package, so a broken one needs only to be
// read within its bounds.
#include "core/elf/fit_exports.hpp"
#include "core/elf/library_identity.hpp"
#include "core/elf/shared_object.hpp"
#include "tests/fuzz/support/input.hpp"
#include "tests/fuzz/support/must.hpp"
#include "tests/fuzz/support/tiny_elf.hpp"

namespace cgpu::fuzz {
namespace {

void fit_sound_front(const elf::Exports& driver) {
    static const auto front = TinyElf::make({"cuInit", "cuGone", "cuMemAlloc_v2"}, 64);
    std::vector<std::byte> fitted(front);
    if (const auto done = elf::fit_exports(fitted, driver); !done)
        return must_be_a_line(done.error(), "why nothing fits is one line of printable ASCII");
    const auto image = elf::reader(fitted);
    must(!elf::why_not_loadable(image, fitted.size()), "a fitted front can be loaded");
    const auto exports = elf::exported_symbols(image);
    must(exports.has_value(), "a fitted front can be read");
    for (const auto& [name, kind] : *exports)
        must(driver.contains(name), "a fitted front exports nothing that the driver lacks");
    for (const auto& [name, kind] : driver)
        must(kind != elf::SymbolKind::function || exports->contains(name), "nor less than the driver has");
}

}  // namespace
}  // namespace cgpu::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cgpu;
    fuzz::Input input(data, size);
    const bool is_front = input.byte() % 2 == 1;
    const auto image = elf::reader(input.bytes());
    if (const auto why = elf::why_not_loadable(image, input.bytes().size()))
        fuzz::must_be_a_line(*why, "why nothing can be loaded is one line of printable ASCII");
    // What anybody's file says of itself.
    if (const auto library = elf::identify_library(image))
        fuzz::must(library->soname.size() <= elf::kLongestSoname, "a name is as long as a library's");
    if (is_front) {
        static const elf::Exports driver{{"cuInit", elf::SymbolKind::function},
                                         {"cuNew", elf::SymbolKind::function},
                                         {"cuTable", elf::SymbolKind::object}};
        std::vector<std::byte> front(input.bytes().begin(), input.bytes().end());
        (void)elf::fit_exports(front, driver);
    } else if (const auto driver = elf::exported_symbols(image)) {
        fuzz::fit_sound_front(*driver);
    }
    return 0;
}
