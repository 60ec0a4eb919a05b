#pragma once

#include <string_view>
#include <vector>

#include "core/model/node.hpp"
#include "daemon/app/ports/ports.hpp"

/// Finds what users name.
namespace cgpu::app {

/// A GPU by index or UUID.
[[nodiscard]] Result<model::Uuid> find_gpu(const model::Node& node, std::string_view gpu);

/// An instance by id, by a unique prefix of an id (at least 4 characters), or by name if only one has it. A
/// name in another case counts if no instance has it as it is written.
[[nodiscard]] Result<model::InstanceId> find_instance(const model::Node& node, std::string_view instance);

/// The GPU that `gpu` means for this instance; empty means its only one.
[[nodiscard]] Result<model::Uuid> find_gpu_of(const model::Node& node, const model::InstanceId& id,
                                              std::string_view gpu);

/// The instances with a quota on the GPU, by id. The pointers live as long as the node is not changed.
[[nodiscard]] std::vector<const model::Instance*> instances_on(const model::Node& node,
                                                               const model::Uuid& gpu);

}  // namespace cgpu::app
