/* nvml_too first|last: a program that asks NVML, too, before CUDA or after it. */
#include <stdlib.h>
#include <string.h>

#include "tests/programs/kinds/loading/linked.h"
#include "tests/sim/include/simgpu/nvml.h"

static nvmlMemory_t ask_nvml(void) {
    nvmlDevice_t device = NULL;
    nvmlMemory_t memory = {0, 0, 0};
    nvmlReturn_t result = nvmlInit_v2();
    if (result == NVML_SUCCESS) result = nvmlDeviceGetHandleByUUID(getenv("CUDA_VISIBLE_DEVICES"), &device);
    if (result == NVML_SUCCESS) result = nvmlDeviceGetMemoryInfo(device, &memory);
    if (result != NVML_SUCCESS) fail("nvmlDeviceGetMemoryInfo", result);
    print_number("nvml_total", memory.total);
    return memory;
}

int main(int argc, char** argv) {
    const int first = argc > 1 && strcmp(argv[1], "first") == 0;
    expect_end();
    if (first && ask_nvml().used != 0) fail("used before CUDA", 1);
    find_driver(linked_function);
    begin(0);
    const size_t taken = take_all();
    const nvmlMemory_t memory = ask_nvml();
    if (memory.used < taken || memory.used > memory.total) fail("used", (long)memory.used);
    hold();
    return 0;
}
