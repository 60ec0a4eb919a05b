#pragma once

#include "core/wire/message.hpp"

/// The real driver's library behind this front: libcuda for one front, libnvidia-ml for the other.
namespace cgpu::front {

/// Which library it is; each front's own file defines it.
extern const wire::Library kLibrary;
/// The function that is called in place of one of the driver while the driver's library isn't available.
const void* answer_without_library(const char* function);

/// What this front does with the library that has been loaded, before the first of its functions is called.
/// Several threads may call it at once.
void prepare_library(void* library);

/// Loads the library; returns the handle of dlopen, which is never closed. Null: it isn't available now;
/// after a failure later calls hardly wait, but may succeed. Several threads may call it at once. It takes no
/// lock besides the loader's: a thread that holds the loader's lock, because it runs the constructors of a
/// library, may call it while another thread waits for that lock.
void* open_real_library();

/// The address of a function of the library; null if it has none of that name, or isn't available.
void* real_address(const char* name);
/// Whether it has been loaded.
bool has_real_library();
/// Whether calls of the loaded library's functions to each other may reach this front: false where the linker
/// has bound them to the library itself (-Bsymbolic), as it has in NVIDIA's libcuda 470 to 550.
bool real_library_calls_front();

}  // namespace cgpu::front
