// Reads and writes in cGPU's control tree: a path a line, and after a blank what is written to it.
#include <cerrno>

#include "client/fs/orders.hpp"
#include "tests/fuzz/support/input.hpp"
#include "tests/fuzz/support/must.hpp"

namespace cgpu::fuzz {
namespace {

client::Snapshot a_node() {
    client::Snapshot node;
    for (std::uint32_t index = 0; index < 2; ++index) {
        client::Gpu gpu;
        gpu.uuid = "GPU-0000000" + std::to_string(index);
        gpu.index = index;
        gpu.present = index == 0;
        gpu.memory_total = std::uint64_t{16'130} << 20U;
        gpu.max_inst = 20;
        node.gpus.push_back(gpu);
    }
    for (const std::string name : {"0123456789ab0", "0123456789ab1", "fedcba987654"}) {
        client::Instance instance;
        instance.id = name;
        instance.gpus.push_back({{node.gpus[0].uuid, 0, std::uint64_t{1} << 30U, 2, false}, {}});
        node.instances.push_back(instance);
    }
    return node;
}

void read_all(const client::Snapshot& node, const fs::Place& place) {
    if (place.file == nullptr) {
        for (const auto& name : fs::names_in(node, place)) {
            must(!name.empty() && name.find('/') == std::string::npos, "a name is one component of a path");
        }
        return;
    }
    const auto text = fs::text_of(node, place, 7);
    must(text ? text->ends_with('\n') : text.error() == EBADF, "a file has a line, or can only be written");
}

void write(const client::Snapshot& node, const fs::Place& place, std::string_view text) {
    const auto order = fs::read_order(node, place, text);
    if (!order) {
        const int error = order.error();
        must(error == EINVAL || error == EACCES || error == ENOENT || error == EISDIR,
             "an errno that open(2) has");
        return;
    }
    must(place.file != nullptr && (place.file->mode & 0200U) != 0,
         "only a file that can be written orders something");
    if (const auto* made = std::get_if<fs::CreateInstance>(&*order))
        must(made->id.size() == 12 && made->gpu == node.gpus[0].uuid,
             "an instance is made on a GPU that is there");
    if (const auto* change = std::get_if<client::Change>(&*order); change != nullptr && change->weight)
        must(
            change->instance == place.instance->id && text.find(std::to_string(*change->weight)) != text.npos,
            "a weight is the one that was written");
}

}  // namespace
}  // namespace cgpu::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cgpu;
    static const client::Snapshot node = fuzz::a_node();
    fuzz::Input input(data, size);
    auto text = input.text();
    for (int line = 0; line < 50 && !text.empty(); ++line) {
        auto written = fuzz::take_until(text, "\n");
        const auto path = fuzz::take_until(written, " ");
        const auto place = fs::find_place(node, path);
        fuzz::must(place || place.error() == ENOENT || place.error() == ENOTDIR, "a path is there or isn't");
        if (!place) continue;
        fuzz::read_all(node, *place);
        fuzz::write(node, *place, written);
    }
    return 0;
}
