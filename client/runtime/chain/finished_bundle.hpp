#pragma once

#include <functional>

#include "client/runtime/oci/gpu_devices.hpp"
#include "client/runtime/oci/oci_bundle.hpp"

/// NVIDIA's runtime decides by itself which GPUs a container gets: by variables, volumes, annotations, its
/// configuration and the age of the image. So what is right isn't predicted from these, but read from what it
/// has made of the bundle.
namespace cgpu::runtime {

/// Makes the bundle that the low-level runtime gets true to what cgpud knows:
/// - A managed container keeps the devices of granted GPUs only, and its mounts come last.
/// - The hook that compares a container without a limit with what cgpud knows stays only if there is
/// something
///   to compare: the bundle opens other GPUs, or has hooks that may bring some in later; then it comes last.
/// Doesn't write the file; true: something was changed.
///
/// Error (refused): a managed container got other GPUs instead of a granted one; also as keep_granted_gpus().
[[nodiscard]] Result<bool> finish_bundle(OciBundle& bundle, const DeviceAt& device_at = character_device_at);

}  // namespace cgpu::runtime
