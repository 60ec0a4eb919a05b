/* opened_runtime LIBRARY: what a CUDA runtime, opened by its path, makes of a driver without a GPU. */
#include "tests/programs/kinds/without_gpu/codes.h"

#include <stddef.h>

int main(int argc, char** argv) {
    int (*get)(int*) = NULL;
    int (*allocate)(void**, size_t) = NULL;
    int (*release)(void*) = NULL;
    int (*last)(void) = NULL;
    static const char* const kGetters[] = {"cudaGetDeviceCount", "cudaDriverGetVersion",
                                           "cudaRuntimeGetVersion", "cudaGetDevice"};
    void* memory = NULL;
    void* runtime = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (runtime == NULL) fail(argc > 1 ? dlerror() : "no library", -1);
    for (size_t i = 0; i < sizeof kGetters / sizeof *kGetters; ++i) {
        int value = -1;
        *(void**)&get = function_of(runtime, kGetters[i]);
        const int code = get(&value);
        printf("%s %d %d\n", kGetters[i], code, value);
    }
    *(void**)&allocate = function_of(runtime, "cudaMalloc");
    *(void**)&release = function_of(runtime, "cudaFree");
    *(void**)&last = function_of(runtime, "cudaGetLastError");
    printf("cudaMalloc %d\n", allocate(&memory, (size_t)1 << 20));
    printf("cudaFree %d\n", release(NULL));
    printf("cudaGetLastError %d\n", last());
    return 0;
}
