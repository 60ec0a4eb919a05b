// Makes a front the front of libcuda.
#include "module/front/driver/cuda_abi.hpp"
#include "module/front/driver/real_library.hpp"
#include "module/front/driver/visible_devices.hpp"

namespace cgpu::front {
namespace {

CUresult not_ready() { return kSystemNotReady; }

}  // namespace

constinit const wire::Library kLibrary = wire::Library::cuda;

const void* answer_without_library(const char*) { return reinterpret_cast<const void*>(&not_ready); }

void prepare_library(void* library) { let_read_own_devices(library); }

}  // namespace cgpu::front
