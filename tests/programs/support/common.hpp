#pragma once

#include <string>

#include "tests/sim/include/simgpu/cuda.h"

/// What the test programs share. They use the CUDA driver API and nothing else.
namespace programs {

/// Returns "CUDA_ERROR_OUT_OF_MEMORY" and the like.
std::string result_name(CUresult result);

/// Ends the program with status 1 and a line "error CALL CODE NAME" where a call fails that must not fail.
void must(CUresult result, const char* call);

/// Initialises CUDA and makes the device's primary context current in the calling thread.
CUcontext use_device(int device);

/// Returns a kernel of busy.ptx or vector_add.ptx, or one that only the simulator has.
CUfunction kernel(const char* name);

/// From here on SIGTERM and SIGINT do not end the program; should_stop() and hold() report them. Call this
/// before threads are started.
void take_stop_signals();
bool should_stop();

/// Prints "ready". Then it waits for SIGTERM or SIGINT, or until the other end of a stdin that is a pipe is
/// closed.
void hold();

/// Prints one line "KEY VALUE" and flushes it.
void say(const std::string& key, const std::string& value);
void say(const std::string& key, unsigned long long value);

}  // namespace programs
