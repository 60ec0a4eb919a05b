#pragma once

#include "module/front/driver/cuda_abi.hpp"
#include "module/front/driver/real_driver.hpp"

/// Starts the definition of a hook: a function that the front exports in place of the driver's. Every one is
/// named in hooks.txt, which the exports and the table for cuGetProcAddress are made from.
#define CGPU_HOOK extern "C" __attribute__((visibility("default"))) cgpu::front::CUresult
