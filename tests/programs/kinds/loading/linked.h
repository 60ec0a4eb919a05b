/* The driver as a program finds it that is linked with it: by the names in its own symbol table. */
#pragma once

#include "tests/programs/kinds/errand/errand.h"

#ifdef __cplusplus
extern "C" {
#endif

any_function linked_function(const struct driver_name* name);

#ifdef __cplusplus
}
#endif
