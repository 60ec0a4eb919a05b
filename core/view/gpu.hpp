#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/view/fields.hpp"

namespace cgpu::view {

/// A GPU and its settings, with the memory and the errors of the moment.
struct Gpu {
    std::string uuid;
    std::uint32_t index = 0;
    std::string model;
    bool present = true;
    bool drained = false;                ///< it takes no new instance, because an administrator said so
    std::string obstacle;                ///< why it takes no instance; empty: it does
    std::uint64_t memory_total = 0;      ///< bytes that can be allocated on the card
    std::uint64_t memory_allocated = 0;  ///< bytes: the sum of the limits
    std::uint64_t memory_used = 0;       ///< bytes charged by all instances
    std::uint64_t memory_leased = 0;     ///< bytes
    /// Bytes in use on the card, by the driver, when cgpud queried it last; empty: it hasn't yet.
    std::optional<std::uint64_t> memory_in_driver = std::nullopt;
    std::uint64_t memory_charged_then = 0;  ///< memory_used at that moment
    std::uint64_t xid_errors = 0;           ///< that its driver has reported since cgpud was started
    std::uint64_t last_xid = 0;             ///< NVIDIA's number of the last one; 0: none yet
    /// 0..1 of the GPU's time: what processes of no instance use, by the driver's samples; empty: nobody
    /// knows.
    std::optional<double> strangers = std::nullopt;
    std::uint64_t strangers_process = 0;  ///< host pid of the one that uses most; 0: none does
    std::uint32_t policy = 0;
    std::string policy_name;
    std::uint32_t max_inst = 0;
    std::uint32_t free_weight = 0;
    std::uint32_t prio_ratio = 0;  ///< per cent
    std::string mode;

    /// Whether cgpu divides the compute now. Otherwise the driver does, and nothing is measured.
    [[nodiscard]] bool is_measured() const {
        return present && mode == "memory+compute" && policy_name != "native";
    }
};

template <class Fields, Is<Gpu> Of>
void fields(Fields& on, Of& gpu) {
    on.value("uuid", gpu.uuid);
    on.value("index", gpu.index);
    on.value("model", gpu.model);
    on.value("present", gpu.present);
    on.value("drained", gpu.drained);
    on.value("obstacle", gpu.obstacle);
    on.value("mode", gpu.mode);
    on.value("policy", gpu.policy);
    on.value("policy_name", gpu.policy_name);
    on.value("max_inst", gpu.max_inst);
    on.value("free_weight", gpu.free_weight);
    on.per_cent("prio_ratio", gpu.prio_ratio);
    on.value("memory_total_bytes", gpu.memory_total);
    on.value("memory_allocated_bytes", gpu.memory_allocated);
    on.value("memory_used_bytes", gpu.memory_used);
    on.value("memory_leased_bytes", gpu.memory_leased);
    on.value("memory_in_driver_bytes", gpu.memory_in_driver);
    on.value("memory_charged_then_bytes", gpu.memory_charged_then);
    on.value("xid_errors", gpu.xid_errors);
    on.value("last_xid", gpu.last_xid);
    on.value("strangers_share", gpu.strangers);
    on.value("strangers_process", gpu.strangers_process);
}

}  // namespace cgpu::view
