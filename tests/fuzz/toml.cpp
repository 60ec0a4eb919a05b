// A configuration file of NVIDIA's toolkit or Podman, as cgpuctl doctor reads it, or containerd's, as runtime
// configure edits it.
#include "client/cgpuctl/docker/toml.hpp"
#include "client/cgpuctl/docker/containerd/containerd_config.hpp"
#include "tests/fuzz/support/input.hpp"
#include "tests/fuzz/support/must.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cgpu;
    fuzz::Input input(data, size);
    const auto text = input.text();
    std::size_t length = 0;
    for (const auto& entry : cgpuctl::read_toml(text)) {
        fuzz::must(!entry.key.empty(), "an entry has a key");
        fuzz::must(text.find(entry.key) != text.npos, "the key is in the file");
        length += entry.key.size();
        for (const auto& value : entry.strings) length += value.size();
    }
    fuzz::must(length <= text.size(), "nothing is read twice");

    if (const auto once = cgpuctl::with_containerd_runtime(std::string(text), "/usr/bin/cgpu-runtime")) {
        const auto twice = cgpuctl::with_containerd_runtime(*once, "/usr/bin/cgpu-runtime");
        fuzz::must(twice && *twice == *once, "the runtime is added once");
        const auto without = cgpuctl::without_containerd_runtime(*once);
        fuzz::must(cgpuctl::without_containerd_runtime(without) == without, "and removed");
    }
    return 0;
}
