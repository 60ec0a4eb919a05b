/* An LD_PRELOAD that initialises CUDA before the program begins. */
#include <stdio.h>

#include "tests/sim/include/simgpu/cuda.h"

__attribute__((constructor)) static void initialise(void) {
    int devices = -1;
    const int init = (int)cuInit(0);
    const int count = (int)cuDeviceGetCount(&devices);
    printf("preloaded: cuInit %d, cuDeviceGetCount %d\n", init, count);
    fflush(stdout);
}
