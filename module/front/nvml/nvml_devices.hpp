#pragma once

namespace cgpu::front::nvml {

/// The driver's index of the GPU that has this index in the instance. Otherwise the error to return.
int driver_index_of(unsigned own, unsigned& index);

}  // namespace cgpu::front::nvml
