// A manifest that was read is written, and read again to the same.
#include "bundle/manifest_text.hpp"
#include "tests/fuzz/support/input.hpp"
#include "tests/fuzz/support/must.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cgpu;
    const auto manifest = bundle::parse_manifest(fuzz::Input(data, size).text());
    if (!manifest) {
        fuzz::must_be_a_line(manifest.error(), "what is wrong is said in one line of printable ASCII");
        return 0;
    }
    fuzz::must(manifest->engine.find('/') == std::string::npos, "an engine lies in its bundle");
    fuzz::must(manifest->compatible_from <= manifest->version, "nobody is compatible from a later version");
    const auto again = bundle::parse_manifest(bundle::write_manifest(*manifest));
    fuzz::must(again && *again == *manifest, "what was read is written and read again to the same");
    return 0;
}
