// cgpud's YAML. The input is the text of a file; after a NUL follow settings of the command line, one a line.
#include "daemon/config/load.hpp"
#include "daemon/config/validate.hpp"
#include "daemon/config/yaml_layer.hpp"
#include "tests/fuzz/support/input.hpp"
#include "tests/fuzz/support/must.hpp"

namespace cgpu::fuzz {
namespace {

void check(const config::Problems& problems) {
    for (const auto& problem : problems) {
        must_be_a_line(problem.text, "a problem is one line of printable ASCII");
        must(problem.text.find(". Try: ") != std::string::npos, "a problem says what to try");
    }
}

void check(const config::Config& config) {
    const auto& gpu = config.gpu_defaults;
    must(gpu.max_inst >= 1 && gpu.max_inst <= 25, "max_inst is 1 to 25");
    must(gpu.prio_ratio >= 20 && gpu.prio_ratio <= 99, "prio_ratio is 20 to 99");
    must(config.slice_ms >= 1, "a slice takes time");
    must(config.lease_chunk_mib >= 1 && config.lease_chunk_mib % 2 == 0, "leases are whole granules");
    must(
        config.state_dir.is_absolute() && config.runtime_dir.is_absolute() && config.module_dir.is_absolute(),
        "folders are absolute paths");
    for (const auto& [name, weight] : config.admission.weights)
        must(weight >= 1 && weight <= 25, "a weight is 1 to 25");
}

}  // namespace
}  // namespace cgpu::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cgpu;
    auto text = fuzz::Input(data, size).text();
    const std::string file(fuzz::take_until(text, std::string_view("\0", 1)));
    config::Problems problems;
    const auto entries = config::read_yaml(file, "cgpud.yaml", problems);
    const auto config = config::validate(entries, problems);
    fuzz::check(problems);
    if (problems.empty()) fuzz::check(config);

    config::Sources nothing{"/nonexistent/a", "/nonexistent/b", "/nonexistent/c", {}, {}};
    while (!text.empty()) nothing.overrides.emplace_back(fuzz::take_until(text, "\n"));
    const auto loaded = config::load(nothing);
    if (loaded)
        fuzz::check(loaded->config);
    else
        fuzz::check(loaded.error());
    return 0;
}
