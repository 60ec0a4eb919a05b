#pragma once

#include "client/cgpuctl/doctor/base/finding.hpp"
#include "client/cgpuctl/doctor/base/look.hpp"

/// One function for each subject. A subject that doesn't concern this node (no Docker) is ok.
namespace cgpu::cgpuctl::doctor {

/// `runtime_dir`: cgpud's.
[[nodiscard]] Traces find_traces(const Host& host, const std::string& runtime_dir);

/// `GPU 0`; by its UUID, if the driver doesn't show it now.
[[nodiscard]] std::string gpu_name(const client::Snapshot& snapshot, const std::string& uuid);

[[nodiscard]] Findings check_service(const Look& look);
[[nodiscard]] Findings check_configuration(const Look& look);
[[nodiscard]] Findings check_folders(const Look& look);
[[nodiscard]] Findings check_driver(const Look& look);
[[nodiscard]] Findings check_memory_of_the_host(const Look& look);
[[nodiscard]] Findings check_mps(const Look& look);
[[nodiscard]] Findings check_driver_limits(const Look& look);
[[nodiscard]] Findings check_gpus(const Look& look);
[[nodiscard]] Findings check_gpu_processes(const Look& look);
[[nodiscard]] Findings check_module(const Look& look);
[[nodiscard]] Findings check_instances(const Look& look);
/// Whether users or groups have limits, so that cgpud asks the name service.
[[nodiscard]] bool limits_need_people(const std::vector<client::ConfigurationValue>& configuration);
[[nodiscard]] Findings check_people(const Look& look);
[[nodiscard]] Findings check_cdi(const Look& look);
[[nodiscard]] Findings check_docker(const Look& look);
[[nodiscard]] Findings check_swarm(const Look& look);
[[nodiscard]] Findings check_podman(const Look& look);
[[nodiscard]] Findings check_nvidia_runtime(const Look& look);
[[nodiscard]] Findings check_cgroups(const Look& look);
[[nodiscard]] Findings check_polkit(const Look& look);

}  // namespace cgpu::cgpuctl::doctor
