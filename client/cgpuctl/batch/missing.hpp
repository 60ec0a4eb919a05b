#pragma once

#include <string>
#include <vector>

#include "client/cgpuctl/base/instance_meant.hpp"
#include "client/cgpuctl/batch/batch.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl {

/// Takes out of the batch what is about an instance or a GPU that isn't there. Returns a sentence for each:
/// `NAME:LINE: web: …`. A word that means several stays: cgpud refuses it. Error: the node can't be read.
[[nodiscard]] client::Result<std::vector<std::string>> drop_missing(Batch& batch, const std::string& name,
                                                                    const Saying& saying, client::Node& node);

}  // namespace cgpu::cgpuctl
