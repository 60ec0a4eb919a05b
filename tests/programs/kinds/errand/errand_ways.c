/* Every way to device memory, of device 0. */
#include <string.h>

#include "tests/programs/kinds/errand/errand.h"
#include "tests/programs/kinds/errand/errand_driver.h"

enum { kRowBytes = 65536 };

static CUresult take_plain(size_t bytes) {
    CUdeviceptr address = 0;
    return driver.alloc(&address, bytes);
}

static CUresult take_pitch(size_t bytes) {
    CUdeviceptr address = 0;
    size_t pitch = 0;
    return driver.alloc_pitch(&address, &pitch, kRowBytes, bytes / kRowBytes, 4);
}

static CUresult take_array(size_t bytes) {
    const CUDA_ARRAY_DESCRIPTOR shape = {kRowBytes, bytes / kRowBytes, CU_AD_FORMAT_UNSIGNED_INT8, 1};
    CUarray array = NULL;
    return driver.create_array(&array, &shape);
}

static CUDA_ARRAY3D_DESCRIPTOR box(size_t bytes) {
    const CUDA_ARRAY3D_DESCRIPTOR shape = {
        kRowBytes / 16, bytes / kRowBytes, 16, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0};
    return shape;
}

static CUresult take_array_3d(size_t bytes) {
    const CUDA_ARRAY3D_DESCRIPTOR shape = box(bytes);
    CUarray array = NULL;
    return driver.create_array_3d(&array, &shape);
}

static CUresult take_mipmapped(size_t bytes) {
    const CUDA_ARRAY3D_DESCRIPTOR shape = box(bytes);
    CUmipmappedArray array = NULL;
    return driver.create_mipmapped(&array, &shape, 1);
}

static CUresult take_async(size_t bytes) {
    CUdeviceptr address = 0;
    return driver.alloc_async(&address, bytes, NULL);
}

static CUresult take_from_pool(size_t bytes) {
    CUmemPoolProps how;
    memset(&how, 0, sizeof how);
    how.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    how.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CUmemoryPool pool = NULL;
    const CUresult result = driver.create_pool(&pool, &how);
    CUdeviceptr address = 0;
    return result != CUDA_SUCCESS ? result : driver.alloc_from_pool(&address, bytes, pool, NULL);
}

static CUresult take_physical(size_t bytes) {
    CUmemAllocationProp what;
    memset(&what, 0, sizeof what);
    what.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    what.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CUmemGenericAllocationHandle memory = 0;
    return driver.create_memory(&memory, bytes, &what, 0);
}

static CUresult take_by_graph(size_t bytes) {
    CUDA_MEM_ALLOC_NODE_PARAMS what;
    memset(&what, 0, sizeof what);
    what.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    what.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    what.bytesize = bytes;
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUgraphExec ready = NULL;
    CUresult result = driver.create_graph(&graph, 0);
    if (result == CUDA_SUCCESS) result = driver.add_allocation(&node, graph, NULL, 0, &what);
    if (result == CUDA_SUCCESS) result = driver.instantiate(&ready, graph, 0);
    return result == CUDA_SUCCESS ? driver.launch_graph(ready, NULL) : result;
}

static CUresult take_managed(size_t bytes) {
    CUdeviceptr address = 0;
    return driver.alloc_managed(&address, bytes, CU_MEM_ATTACH_GLOBAL);
}

size_t take_all(void) {
    static const struct {
        const char* key;
        CUresult (*take)(size_t);
    } ways[] = {
        {"refused.plain", take_plain},         {"refused.pitch", take_pitch},
        {"refused.array", take_array},         {"refused.array_3d", take_array_3d},
        {"refused.mipmapped", take_mipmapped}, {"refused.async", take_async},
        {"refused.pool", take_from_pool},      {"refused.physical", take_physical},
        {"refused.graph", take_by_graph},      {"refused.managed", take_managed},
    };
    /* The small ones fill what the large ones leave. They are what the driver hands memory out in. */
    static const size_t pieces[] = {64 << 20, 2 << 20};
    enum { kWays = sizeof ways / sizeof *ways };
    CUresult last[kWays];
    size_t taken = 0;
    for (size_t p = 0; p < sizeof pieces / sizeof *pieces; ++p) {
        int open = kWays;
        memset(last, 0, sizeof last);
        while (open > 0) {
            for (int way = 0; way < kWays; ++way) {
                if (last[way] != CUDA_SUCCESS) continue;
                last[way] = ways[way].take(pieces[p]);
                if (last[way] == CUDA_SUCCESS) taken += pieces[p];
                if (last[way] != CUDA_SUCCESS) --open;
            }
        }
    }
    for (int way = 0; way < kWays; ++way) print_number(ways[way].key, last[way]);
    print_number("taken", taken);
    return taken;
}
