#pragma once

#include "core/view/snapshot.hpp"

/// The daemon's view of the node.
namespace cgpu::client {

using view::ConfigurationProblem;
using view::ForeignGpu;
using view::Gpu;
using view::Instance;
using view::Job;
using view::Kept;
using view::LaunchWaits;
using view::OnGpu;
using view::Process;
using view::Queued;
using view::Quota;
using view::Snapshot;
using view::UnmanagedContainer;
using view::Usage;

}  // namespace cgpu::client
