#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <tl/expected.hpp>

#include "core/model/bytes.hpp"
#include "core/model/kept.hpp"
#include "core/model/mode.hpp"
#include "core/model/refusal.hpp"
#include "core/model/uuid.hpp"

namespace cgpu::request {

/// Names and values: a container's environment together with the OCI annotations that name GPU resources.
using Variables = std::map<std::string, std::string>;

/// `gib` parts of a card that counts as `dev` (ALIYUN_COM_GPU_MEM_CONTAINER and _DEV): see
/// memory_limit_mib().
struct CardShare {
    std::uint64_t gib = 0;
    std::optional<std::uint64_t> dev;

    friend bool operator==(const CardShare&, const CardShare&) = default;
};

/// Memory on one GPU.
using MemoryAsk = std::variant<CardShare, model::Bytes>;

/// A GPU by its index or its UUID.
using GpuName = std::variant<std::uint32_t, model::Uuid>;

/// What a container asks for, checked as far as that goes without knowing the node.
struct Request {
    /// Per GPU, the last one repeating. Empty: the node's default.
    std::vector<MemoryAsk> memory;
    /// The GPUs asked for by name. Empty: placement picks `count` of them.
    std::vector<GpuName> gpus;
    std::uint32_t count = 1;               ///< with names: their number
    std::optional<std::uint32_t> weight;   ///< slices, 1..25
    std::optional<std::uint32_t> percent;  ///< of the compute, 1..100
    bool high_priority = false;
    std::optional<model::Mode> mode;  ///< none asked for: the GPU's
    /// For the weights by container name, and for messages; filled in by the caller, where it knows it.
    std::string container_name;
    /// What `--persist` has kept for it, which goes before what it asks for; filled in by the caller. Of
    /// devices that it doesn't ask for it means nothing.
    model::KeptOfInstance kept;

    /// The memory asked for on the n-th GPU; null for the node's default.
    [[nodiscard]] const MemoryAsk* memory_at(std::size_t n) const {
        if (memory.empty()) return nullptr;
        return &memory[n < memory.size() ? n : memory.size() - 1];
    }

    /// What is kept of the n-th GPU; all empty where nothing is.
    [[nodiscard]] model::KeptFigures kept_at(std::size_t n) const {
        const auto found = kept.find(static_cast<std::uint32_t>(n));
        return found == kept.end() ? model::KeptFigures{} : found->second;
    }

    friend bool operator==(const Request&, const Request&) = default;
};

/// Reads the variables, annotations and labels that make a request; docs/requests.md lists them. An empty
/// result: the container is not managed, and runs as with the plain NVIDIA runtime. Whether an empty
/// ALIYUN_COM_GPU_MEM_CONTAINER is managed depends on the node's default memory, so admission decides that.
///
/// - Two names for one setting must agree. GiB of a card (ALIYUN_COM_GPU_MEM_CONTAINER,
///   aliyun.com/gpu-mem) and exact sizes (CGPU_MEM, volcano.sh/gpu-mem.128Mi) agree when their whole
///   numbers of GiB do; then the exact size counts.
/// - CGPU_* and volcano.sh/gpu-core.percentage without a memory request are refused, so that no container
///   runs unmanaged by mistake. ALIYUN_* without a memory request is ignored, as in cGPU's contract.
/// - volcano.sh/gpu-mem.128Mi alone isolates memory only.
/// - An empty value of any other variable counts as absent.
///
/// Refused (invalid, unsupported): a value that can't be read or that contradicts another; the text names the
/// variable.
[[nodiscard]] tl::expected<std::optional<Request>, model::Refusal> parse_request(const Variables& variables);

}  // namespace cgpu::request
