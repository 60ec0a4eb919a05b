#pragma once

#include "core/wire/message.hpp"

/// The real driver's library that this front stands before: libcuda for one front, libnvidia-ml for the
/// other.
namespace cgpu::front {

/// Which one it is; each front's own file says so.
extern const wire::Library kLibrary;
/// What a function of the driver answers while the driver's library can't be had.
const void* answer_without_library(const char* function);

/// Loads the library; the handle of dlopen, never to be closed. Null: it can't be had now; what failed once
/// is not waited for again, but another call may succeed. May be called by several threads at once, and takes
/// no lock besides the loader's: a thread that holds that one, because it runs the constructors of a library,
/// may come here while another waits for it.
void* open_real_library();

/// The address of a function of the library; null where it has none of that name, or can't be had.
void* real_address(const char* name);
/// Whether it has been loaded.
bool has_real_library();
/// Whether calls of the loaded library's functions to each other may reach this front: false where the linker
/// has bound them to the library itself (-Bsymbolic), as it has in NVIDIA's libcuda 470 to 550.
bool real_library_calls_front();

}  // namespace cgpu::front
