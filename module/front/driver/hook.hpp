#pragma once

#include "module/front/driver/cuda_abi.hpp"
#include "module/front/driver/real_driver.hpp"

/// Begins the definition of a hook: a function that the front exports in place of the driver's. hooks.txt has
/// the names of all hooks; the exports and the table for cuGetProcAddress are made from it.
#define CGPU_HOOK extern "C" __attribute__((visibility("default"))) cgpu::front::CUresult
