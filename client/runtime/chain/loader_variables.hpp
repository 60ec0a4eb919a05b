#pragma once

namespace cgpu::runtime {

/// Engines start runtimes with variables of the dynamic loader: containerd sets LD_LIBRARY_PATH to
/// /opt/containerd/lib and the working folder. cgpu's own dynamic program must not load libraries from there,
/// but the next runtime gets its environment as the engine made it. So cgpu-runtime sets these variables
/// (LD_*) aside under other names, and the program that executes the next runtime puts them back.
void set_loader_variables_aside();
void put_loader_variables_back();

}  // namespace cgpu::runtime
