// For fronts that tests build: the fake driver is at a path of their own.
#include <dlfcn.h>

#include "module/front/driver/real_library.hpp"

void* cgpu::front::open_real_library() { return dlopen(CGPU_TEST_REAL_LIBRARY, RTLD_NOW | RTLD_LOCAL); }
