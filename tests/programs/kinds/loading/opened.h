/* The driver as a program finds it that opens it itself. */
#pragma once

#include "tests/programs/kinds/errand/errand.h"

/* Opens it; ends the program where it can't. `how`: local, global, deepbind, or namespace (dlmopen). */
void open_driver(const char* library, const char* how);
/* As exported; with `per_thread` the variants for the per-thread default stream. */
any_function opened_function(const struct driver_name* name);
void use_per_thread_variants(void);
