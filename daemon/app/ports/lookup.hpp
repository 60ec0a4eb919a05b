#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/model/node.hpp"
#include "daemon/app/ports/ports.hpp"

/// Finds what users name.
namespace cgpu::app {

/// A GPU by index, UUID, a prefix of it, or PCI address.
[[nodiscard]] Result<model::Uuid> find_gpu(const model::Node& node, std::string_view gpu);

/// Who names an instance, and what for.
struct Naming {
    std::optional<std::uint32_t> user = std::nullopt;  ///< empty: it isn't known
    bool to_change = false;
};

/// An instance by its whole id, its first 12 characters, its name, a prefix of its id (at least 3 characters)
/// or its name in another case: the first of these ways by which any is meant, and the user's own before
/// those of others. Refused: not_found, also if one of another user would be changed that the word only
/// resembles; invalid, with the candidates, if several are meant.
[[nodiscard]] Result<model::InstanceId> find_instance(const model::Node& node, std::string_view instance,
                                                      const Naming& naming = {});
/// The same among these, in any order.
[[nodiscard]] Result<model::InstanceId> find_instance(const std::vector<const model::Instance*>& all,
                                                      std::string_view instance, const Naming& naming);

/// The GPU that `gpu` means for this instance; empty means its only one.
[[nodiscard]] Result<model::Uuid> find_gpu_of(const model::Node& node, const model::InstanceId& id,
                                              std::string_view gpu);

/// The instances with a quota on the GPU, by id. The pointers live as long as the node is not changed.
[[nodiscard]] std::vector<const model::Instance*> instances_on(const model::Node& node,
                                                               const model::Uuid& gpu);

}  // namespace cgpu::app
