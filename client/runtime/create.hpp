#pragma once

#include <functional>

#include "client/node/node.hpp"
#include "client/runtime/bundle.hpp"
#include "client/runtime/invocation.hpp"

namespace cgpu::runtime {

/// What a container asks the daemon for: the variables and annotations that name GPU resources. Empty: it
/// asks for nothing and isn't managed. An annotation wins over a variable of the same name. Error (refused):
/// a value that can't be read.
[[nodiscard]] Result<Variables> asked_by(const Bundle& bundle);

/// Admits the container and prepares its bundle, where it asks for a part of a GPU. Its node is only made
/// where it is needed. True: it is an instance now. After an error nothing of it is left.
[[nodiscard]] Result<bool> prepare(const Invocation& invocation, const std::string& program,
                                   const std::function<client::Node&()>& node);

}  // namespace cgpu::runtime
