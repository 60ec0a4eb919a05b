/* A program that is linked with the driver and NVML: its own environment may bind it at once (LD_BIND_NOW),
 * audit it (LD_AUDIT) or come first (LD_PRELOAD). */
#include "tests/programs/kinds/without_gpu/codes.h"
#include "tests/sim/include/simgpu/cuda.h"
#include "tests/sim/include/simgpu/nvml.h"

int main(void) {
    int devices = -1;
    unsigned cards = 0;
    const int before = (int)cuDeviceGetCount(&devices);
    const int init = (int)cuInit(0);
    const int count = (int)cuDeviceGetCount(&devices);
    printf("linked: before cuInit %d, cuInit %d, cuDeviceGetCount %d\n", before, init, count);
    const int nvml_init = (int)nvmlInit_v2();
    const int nvml_count = (int)nvmlDeviceGetCount_v2(&cards);
    printf("linked: nvmlInit %d, nvmlDeviceGetCount %d\n", nvml_init, nvml_count);
    fflush(stdout);
    const struct codes_of driver = driver_of(RTLD_DEFAULT);
    print_driver_codes("found", &driver);
    return 0;
}
