#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tl/expected.hpp>

#include "core/model/bytes.hpp"
#include "core/model/gpu_word.hpp"
#include "core/model/kept.hpp"
#include "core/model/mode.hpp"
#include "core/model/nanos.hpp"
#include "core/model/refusal.hpp"
#include "core/model/uuid.hpp"

namespace cgpu::request {

/// Names and values: a container's environment together with its OCI annotations about GPU resources.
using Variables = std::map<std::string, std::string>;

/// `gib` parts of a card that counts as `dev` (ALIYUN_COM_GPU_MEM_CONTAINER and _DEV): see
/// memory_limit_mib().
struct CardShare {
    std::uint64_t gib = 0;
    std::optional<std::uint64_t> dev;
    bool in_mib = false;  ///< both are numbers of MiB (ALIYUN_COM_GPU_MEM_UNIT=MiB)

    friend bool operator==(const CardShare&, const CardShare&) = default;
};

/// Memory on one GPU.
using MemoryAsk = std::variant<CardShare, model::Bytes>;

/// A GPU by its index, its UUID, a prefix of it, or its PCI address.
using GpuName = model::GpuWord;

/// Of a request that waits without an end, and the word for it.
constexpr model::Nanos kForever = std::numeric_limits<model::Nanos>::max();
constexpr std::string_view kWaitForever = "forever";

/// A container's request, checked as far as that is possible without the node.
struct Request {
    /// For each GPU; the last one repeats. Empty: the node's default.
    std::vector<MemoryAsk> memory;
    /// The GPUs requested by name. Empty: placement chooses `count` of them.
    std::vector<GpuName> gpus;
    std::uint32_t count = 1;               ///< with names: their number
    bool every_gpu = false;                ///< all that the node has: neither names nor a count
    std::optional<std::uint32_t> weight;   ///< slices, 1..25
    std::optional<std::uint32_t> percent;  ///< of the compute, 1..100
    std::optional<bool> high_priority;     ///< empty: its profile's, else normal
    std::optional<model::Mode> mode;       ///< empty: the GPU's mode
    /// For weights by container name, and for messages; filled in by the caller, if it knows the name.
    std::string container_name;
    std::string profile;  ///< whose values count where it says nothing; empty: none's
    std::string owner;    ///< whom it declares to be its owner; empty: nobody
    /// How long it waits if there is no room for it now; kForever: as long as its caller does. Empty: it is
    /// refused.
    std::optional<model::Nanos> wait;
    std::optional<std::uint64_t> time = std::nullopt;  ///< for how many seconds; empty: the default
    std::optional<std::uint64_t> idle = std::nullopt;  ///< the same without work
    /// The token of the reservation whose part it gets, instead of one that it asks for here; empty: none.
    std::string reservation = {};
    /// The settings that `--persist` keeps for it, which win over the request; filled in by the caller. Those
    /// of devices that it doesn't request are ignored.
    model::KeptOfInstance kept;

    /// The memory requested on the n-th GPU; null for the node's default.
    [[nodiscard]] const MemoryAsk* memory_at(std::size_t n) const {
        if (memory.empty()) return nullptr;
        return &memory[n < memory.size() ? n : memory.size() - 1];
    }

    /// The kept settings of the n-th GPU; empty if there are none.
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
/// - An empty or blank value of a CGPU_* variable is refused: it would give the whole node. An empty value of
///   any other variable counts as absent.
///
/// Refused (invalid, unsupported): a value that can't be read or that contradicts another; the text names the
/// variable.
[[nodiscard]] tl::expected<std::optional<Request>, model::Refusal> parse_request(const Variables& variables);

/// Whom the variables declare to be the owner; empty: nobody, or they can't be read.
[[nodiscard]] std::string declared_owner(const Variables& variables);

/// Whether parse_request() reads this variable.
[[nodiscard]] bool belongs_to_request(std::string_view name);

/// Whether they say that the container is not to be managed, by CGPU_DISABLE or an amount of zero. False if
/// they ask for nothing at all, or can't be read.
[[nodiscard]] bool declines_management(const Variables& variables);

}  // namespace cgpu::request
