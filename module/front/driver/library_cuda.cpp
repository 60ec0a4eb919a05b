// Makes a front the front of libcuda.
#include "module/front/driver/cuda_abi.hpp"
#include "module/front/driver/real_library.hpp"

namespace cgpu::front {
namespace {

CUresult not_ready() { return kSystemNotReady; }

}  // namespace

constinit const wire::Library kLibrary = wire::Library::cuda;

const void* answer_without_library(const char*) { return reinterpret_cast<const void*>(&not_ready); }

}  // namespace cgpu::front
