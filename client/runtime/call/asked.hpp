#pragma once

#include <functional>
#include <string_view>

#include "client/runtime/call/invocation.hpp"
#include "client/runtime/oci/oci_bundle.hpp"
#include "core/model/nanos.hpp"

namespace cgpu::runtime {

/// How long a container can wait for its part (CGPU_WAIT). Its engine holds it locked meanwhile, so that it
/// can't be stopped, removed or looked at; and engines give up creations that take minutes.
constexpr model::Nanos kLongestWait = 60 * model::kSecond;
constexpr std::string_view kLongestWaitText = "60s";

/// A container's request: the variables and annotations that name GPU resources, or look as if they should.
/// Empty: it requests nothing and isn't managed. An annotation wins over a variable of the same name. Error
/// (refused): a value that can't be read, two of cgpu's CDI devices, one that
/// is requested not to be managed, or a wait of more than kLongestWait.
[[nodiscard]] Result<Variables> asked_by(const OciBundle& bundle);

/// Whether cgpud must be asked before this call creates its container: it requests a part of a GPU, or gets
/// GPUs without that (unmanaged_gpus.hpp). Error: its bundle, or its request, can't be read.
[[nodiscard]] Result<bool> needs_cgpud(const Invocation& invocation,
                                       const std::function<bool()>& brought_by_next);

}  // namespace cgpu::runtime
