// A container's config.json is read, asked, edited as for a grant and written; then it is read again as the
// low-level runtime reads it.
#include "client/run/job/granted_environment.hpp"
#include "client/runtime/call/asked.hpp"
#include "client/runtime/oci/cdi_annotations.hpp"
#include "client/runtime/oci/edit_bundle.hpp"
#include "client/runtime/oci/gpu_devices.hpp"
#include "tests/fuzz/support/input.hpp"
#include "tests/fuzz/support/scratch.hpp"

namespace cgpu::fuzz {
namespace {

using namespace runtime;

constexpr const char* kUuid = "GPU-c09d11f5-a565-1f83-903c-a65a7ba138af";

void must_be_said(const client::ClientError& error) {
    must(error.text.find(". Try: ") != std::string::npos, "an error says what to try");
    must_be_a_line(error.text, "an error is one line of printable ASCII");
}

Edit an_edit() {
    client::Gpu gpu;
    gpu.uuid = kUuid;
    gpu.memory_total = std::uint64_t{16130} << 20;
    client::Created created;
    created.quotas = {{kUuid, 0, std::uint64_t{4301} << 20, 2, false}};
    created.link_folder = "/run/cgpu/instances/x";
    return {"0123", "/usr/bin/cgpu-runtime", "unix:path=/bus", created, {gpu}};
}

void edit(OciBundle& bundle, const std::string& folder) {
    const auto before = bundle.environment();
    const auto root = bundle.root();
    const auto edited = edit_bundle(bundle, an_edit());
    if (!edited) return must_be_said(edited.error());
    must(bundle.write().has_value(), "a bundle can be written");
    auto again = OciBundle::read(folder);
    must(again.has_value(), "what was written can be read");
    const auto environment = again->environment();
    for (const auto& [name, value] : client::granted_environment(an_edit().created.quotas, an_edit().gpus)) {
        const bool own = name == "CUDA_VISIBLE_DEVICES" && before.contains(name);
        must(environment.at(name) == (own ? before.at(name) : value),
             "the environment says what was granted");
    }
    must(again->root() == root, "the root stays where it is");
    for (const std::uint32_t minor : gpu_devices(*again))
        must(minor == 0, "no device of a GPU that wasn't granted is left");
    must(!keep_gpu_devices(*again, {0}), "what was taken out is not there again");
    must(cdi_annotations(*again).empty(), "no annotation names a GPU");
    static_cast<void>(again->move_hooks_to_the_end("createContainer", {"cgpu-runtime", "hook", "mount"}));
    must(!again->move_hooks_to_the_end("createContainer", {"cgpu-runtime", "hook", "mount"}),
         "hooks that are at the end stay there");
    again->remove_variable("CUDA_VISIBLE_DEVICES");
    must(!again->environment().contains("CUDA_VISIBLE_DEVICES"), "a variable can be taken out");
    must(again->write().has_value(), "a bundle can be written twice");
}

}  // namespace
}  // namespace cgpu::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cgpu;
    static const fuzz::Scratch scratch;
    const std::string folder = scratch.folder().native();
    scratch.write("config.json", fuzz::Input(data, size).text());
    auto bundle = runtime::OciBundle::read(folder);
    if (!bundle) {
        fuzz::must(bundle.error().text.find(". Try: ") != std::string::npos, "an error says what to try");
        return 0;
    }
    static_cast<void>(bundle->host_name());
    static_cast<void>(bundle->mount_source("/run"));
    runtime::Invocation create;
    create.command = "create";
    create.bundle = folder;
    const auto managed = runtime::needs_cgpud(create, [] { return true; });
    const auto asked = runtime::asked_by(*bundle);
    fuzz::must(managed.has_value() == asked.has_value() && (!asked || asked->empty() || *managed),
               "both programs see the same request");
    if (!asked) fuzz::must_be_said(asked.error());
    fuzz::edit(*bundle, folder);
    return 0;
}
