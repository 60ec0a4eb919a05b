// A version of the module on the disk: a manifest, a NUL, the engine's file. No mutation would find the
// checksum of the engine, so the target puts it in the place of the manifest's. Where another user than root
// runs the target, all of it is refused.
#include "bundle/bundle.hpp"

#include <sys/stat.h>

#include "bundle/manifest_text.hpp"
#include "bundle/sha256.hpp"
#include "tests/fuzz/support/input.hpp"
#include "tests/fuzz/support/scratch.hpp"

namespace cgpu::fuzz {
namespace {

std::string with_sum(const std::string& text, std::string_view engine) {
    auto manifest = bundle::parse_manifest(text);
    if (!manifest) return text;
    manifest->sha256 = bundle::sha256(std::as_bytes(std::span(engine)));
    return bundle::write_manifest(*manifest);
}

}  // namespace
}  // namespace cgpu::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cgpu;
    static const fuzz::Scratch scratch;
    static const auto folder = [] {
        const auto made = scratch.folder() / "1.2.3";
        std::filesystem::create_directory(made);
        chmod(made.c_str(), 0755);
        return made;
    }();
    auto text = fuzz::Input(data, size).text();
    const std::string manifest(fuzz::take_until(text, std::string_view("\0", 1)));
    const auto written = fuzz::with_sum(manifest, text);
    chmod(scratch.write("1.2.3/manifest.json", written).c_str(), 0644);
    chmod(scratch.write("1.2.3/libcgpu-engine.so.1.2.3", text).c_str(), 0644);
    const auto bundle = bundle::read_bundle(folder);
    if (!bundle) {
        fuzz::must_be_a_refusal(bundle.error().text);
        return 0;
    }
    fuzz::must(bundle->manifest_text == written && bundle->engine.size() == text.size(),
               "what was judged is kept");
    fuzz::must(bundle->manifest.version.str() == "1.2.3", "a bundle is of the version that its folder says");
    const auto verified = bundle::verify(folder);
    fuzz::must(verified && *verified == bundle->manifest, "all readers judge alike");
    return 0;
}
