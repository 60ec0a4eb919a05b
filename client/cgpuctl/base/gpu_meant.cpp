#include "client/cgpuctl/base/gpu_meant.hpp"

#include <algorithm>
#include <variant>

#include "client/cgpuctl/base/words.hpp"
#include "core/model/gpu_word.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::Gpu;
using client::Result;

const Gpu* by_uuid(const client::Snapshot& snapshot, const std::string& uuid) {
    const auto found = std::ranges::find(snapshot.gpus, uuid, &Gpu::uuid);
    return found == snapshot.gpus.end() ? nullptr : &*found;
}

const Gpu* by_index(const client::Snapshot& snapshot, std::uint32_t index) {
    const Gpu* lost = nullptr;
    for (const Gpu& gpu : snapshot.gpus) {
        if (gpu.index != index) continue;
        if (gpu.present) return &gpu;
        if (lost == nullptr) lost = &gpu;
    }
    return lost;
}

/// cgpud alone knows the PCI addresses, and says what is wrong with a word.
Result<const Gpu*> by_cgpud(const client::Snapshot& snapshot, const std::string& word, client::Node& node) {
    const auto uuid = node.find_gpu(word);
    if (!uuid) return tl::unexpected(uuid.error());
    if (const Gpu* gpu = by_uuid(snapshot, *uuid)) return gpu;
    return client::fail(client::ClientError::Kind::not_found,
                        "GPU " + *uuid + ": it disappeared during this call. Try: cgpuctl status.");
}

}  // namespace

Result<const Gpu*> find_gpu_meant(const client::Snapshot& snapshot, const std::string& word,
                                  client::Node& node) {
    if (!names_a_gpu(word)) return nullptr;
    const auto parsed = model::parse_gpu_word(word);
    if (parsed && std::holds_alternative<std::uint32_t>(*parsed))
        return by_index(snapshot, std::get<std::uint32_t>(*parsed));
    if (parsed && std::holds_alternative<model::Uuid>(*parsed))
        if (const Gpu* gpu = by_uuid(snapshot, model::to_string(*parsed))) return gpu;
    return by_cgpud(snapshot, word, node);
}

Result<const Gpu*> gpu_meant(const client::Snapshot& snapshot, const std::string& word, client::Node& node) {
    auto gpu = find_gpu_meant(snapshot, word, node);
    if (!gpu || *gpu != nullptr) return gpu;
    return by_cgpud(snapshot, word, node);
}

}  // namespace cgpu::cgpuctl
