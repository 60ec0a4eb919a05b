// Modules and libraries: code takes device memory when it is loaded or, with lazy loading, first used.
#include <algorithm>
#include <array>

#include "module/front/base/errands.hpp"
#include "module/front/contexts/context_table.hpp"
#include "module/front/contexts/set_aside_memory.hpp"
#include "module/front/driver/hook.hpp"
#include "module/front/memory/current_context.hpp"
#include "module/front/memory/place.hpp"
#include "module/front/memory/set_aside.hpp"
#include "module/front/session/session.hpp"
#include "module/front/sizes/code_table.hpp"
#include "module/front/sizes/image_size.hpp"

using namespace cgpu::front;

namespace cgpu::front::real {
CGPU_REAL(cuModuleGetLoadingMode, int*)
CGPU_REAL(cuModuleLoad, CUmodule*, const char*)
CGPU_REAL(cuModuleLoadData, CUmodule*, const void*)
CGPU_REAL(cuModuleLoadDataEx, CUmodule*, const void*, unsigned, int*, void**)
CGPU_REAL(cuModuleLoadFatBinary, CUmodule*, const void*)
CGPU_REAL(cuModuleUnload, CUmodule)
CGPU_REAL(cuModuleGetFunction, CUfunction*, CUmodule, const char*)
CGPU_REAL(cuModuleGetGlobal, CUdeviceptr_v1*, unsigned*, CUmodule, const char*)
CGPU_REAL(cuModuleGetGlobal_v2, CUdeviceptr*, std::size_t*, CUmodule, const char*)
CGPU_REAL(cuLibraryLoadData, CUlibrary*, const void*, int*, void**, unsigned, int*, void**, unsigned)
CGPU_REAL(cuLibraryLoadFromFile, CUlibrary*, const char*, int*, void**, unsigned, int*, void**, unsigned)
CGPU_REAL(cuLibraryUnload, CUlibrary)
CGPU_REAL(cuLibraryGetModule, CUmodule*, CUlibrary)
CGPU_REAL(cuLibraryGetKernel, CUkernel*, CUlibrary, const char*)
CGPU_REAL(cuLibraryGetKernelCount, unsigned*, CUlibrary)
CGPU_REAL(cuLibraryEnumerateKernels, CUkernel*, unsigned, CUlibrary)
CGPU_REAL(cuFuncLoad, CUfunction)
CGPU_REAL(cuLibraryGetGlobal, CUdeviceptr*, std::size_t*, CUlibrary, const char*)
CGPU_REAL(cuKernelGetFunction, CUfunction*, CUkernel)
CGPU_REAL(cuFuncGetAttribute, int*, int, CUfunction)
CGPU_REAL(cuFuncSetAttribute, CUfunction, int, int)
CGPU_REAL(cuFuncSetCacheConfig, CUfunction, int)
CGPU_REAL(cuFuncSetSharedMemConfig, CUfunction, int)
CGPU_REAL(cuKernelGetAttribute, int*, int, CUkernel, CUdevice)
CGPU_REAL(cuKernelSetAttribute, int, int, CUkernel, CUdevice)
CGPU_REAL(cuKernelSetCacheConfig, CUkernel, int, CUdevice)
CGPU_REAL(cuOccupancyAvailableDynamicSMemPerBlock, std::size_t*, CUfunction, int, int)
CGPU_REAL(cuOccupancyMaxActiveBlocksPerMultiprocessor, int*, CUfunction, int, std::size_t)
CGPU_REAL(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, int*, CUfunction, int, std::size_t, unsigned)
CGPU_REAL(cuOccupancyMaxActiveClusters, int*, CUfunction, const CUlaunchConfig*)
CGPU_REAL(cuOccupancyMaxPotentialBlockSize, int*, int*, CUfunction, CUoccupancyB2DSize, std::size_t, int)
CGPU_REAL(cuOccupancyMaxPotentialBlockSizeWithFlags, int*, int*, CUfunction, CUoccupancyB2DSize, std::size_t,
          int, unsigned)
CGPU_REAL(cuOccupancyMaxPotentialClusterSize, int*, CUfunction, const CUlaunchConfig*)
}  // namespace cgpu::front::real

namespace {

template <class Handle>
std::uint64_t number(Handle handle) {
    return reinterpret_cast<std::uintptr_t>(handle);
}

/// Drivers before 11.7 only know eager loading.
bool loads_lazily() {
    int mode = 0;
    return real::cuModuleGetLoadingMode(&mode) == kSuccess && mode == kLazyLoading;
}

/// Loads a module into the current context, at once or later.
template <class Size, class Call>
CUresult load_module(CUmodule* module, Size size, Call call) {
    const Place place = place_of_current("module");
    if (place.route == Route::broken) return place.refusal;
    if (place.route == Route::pass || module == nullptr) return call();
    const std::uint64_t bytes = size();
    const bool lazily = loads_lazily();
    const CUresult result = lazily ? call() : loading(place.context->gpu, bytes, call);
    if (result != kSuccess) return result;
    code_table().add(number(*module), bytes, lazily ? 0 : place.context->key());
    // Memory that a driver takes in spite of lazy loading.
    if (lazily) errands().note_moved(place.context->gpu);
    return result;
}

/// Loads a library into all existing contexts, or later.
template <class Size, class Call>
CUresult load_library(CUlibrary* library, Size size, Call call) {
    const Route route = session().route();
    if (route == Route::broken) return kSystemNotReady;
    if (route == Route::pass || library == nullptr) return call();
    const std::uint64_t bytes = size();
    std::uint32_t gpus = 0;
    std::uint64_t loaded = 0;
    if (!loads_lazily())
        contexts().for_each(-1, [&](const Context& context) {
            if (context.gpu < 0) return;
            gpus |= std::uint32_t{1} << context.gpu;
            loaded = context.key();
        });
    std::array<SetAsideMemory, cgpu::wire::kMaxGpus> asides{};
    CUresult refused = kSuccess;
    const Uncancelled uncancelled;
    for (int gpu = 0; gpu < static_cast<int>(asides.size()) && refused == kSuccess; ++gpu)
        if ((gpus >> gpu & 1) != 0)
            refused = set_aside(cgpu::wire::Topic::load, gpu, bytes, asides[static_cast<std::size_t>(gpu)]);
    const CUresult result = refused == kSuccess ? call() : refused;
    for (const SetAsideMemory& aside : asides) end_aside(aside, result == kSuccess);
    if (result == kSuccess) code_table().add(number(*library), bytes, loaded);
    return result;
}

/// Of a name, as FNV-1a has it.
std::uint64_t hash_of(const char* name) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (; *name != 0; ++name) hash = (hash ^ static_cast<unsigned char>(*name)) * 0x100000001b3;
    return hash;
}

/// A call that makes the driver load the code in the current context, if it isn't loaded yet. `name`: of the
/// function that it asks the code for; else null.
template <class Call>
CUresult using_code(std::uint64_t handle, const char* what, Call call, const char* name = nullptr) {
    const Place place = place_of_current(what);
    if (place.route == Route::broken) return place.refusal;
    if (place.route == Route::pass) return call();
    const auto context = place.context->key();
    const auto bytes = code_table().bytes_to_load(handle, context);
    const bool fresh = name != nullptr ? code_table().first_time(handle ^ hash_of(name), context)
                                       : code_table().first_use(handle, context);
    if (bytes == 0 && !fresh) return call();
    const CUresult result = loading(place.context->gpu, bytes, call);
    if (result == kSuccess && bytes != 0) code_table().loaded(handle, context);
    return result;
}

void note_moved_here() {
    const Context* context = current_context();
    if (context != nullptr && context->gpu >= 0) errands().note_moved(context->gpu);
}

CUresult unload(std::uint64_t handle, CUresult result) {
    if (result != kSuccess || session().route() != Route::managed) return result;
    const auto bytes = code_table().remove(handle);
    for (std::uint32_t gpu = 0; gpu < session().gpu_count(); ++gpu)
        if (bytes != 0) session().link().tell(cgpu::wire::Topic::moved, gpu, bytes);
    return result;
}

}  // namespace

CGPU_HOOK cuModuleLoad(CUmodule* module, const char* path) {
    return load_module(
        module, [&] { return image_file_size(path); }, [&] { return real::cuModuleLoad(module, path); });
}

CGPU_HOOK cuModuleLoadData(CUmodule* module, const void* image) {
    return load_module(
        module, [&] { return image == nullptr ? 0 : image_size(image); },
        [&] { return real::cuModuleLoadData(module, image); });
}

CGPU_HOOK cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, int* options,
                             void** values) {
    return load_module(
        module, [&] { return image == nullptr ? 0 : image_size(image); },
        [&] { return real::cuModuleLoadDataEx(module, image, count, options, values); });
}

CGPU_HOOK cuModuleLoadFatBinary(CUmodule* module, const void* image) {
    return load_module(
        module, [&] { return image == nullptr ? 0 : image_size(image); },
        [&] { return real::cuModuleLoadFatBinary(module, image); });
}

CGPU_HOOK cuModuleUnload(CUmodule module) { return unload(number(module), real::cuModuleUnload(module)); }

CGPU_HOOK cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
    return using_code(
        number(module), "module",
        [&] {
            const CUresult result = real::cuModuleGetFunction(function, module, name);
            if (result == kSuccess)
                code_table().add_part(number(*function), number(module), CodeTable::Part::function);
            // Some drivers load each function separately. (The complement is used because the function itself
            // will be launched for the first time later.)
            if (result == kSuccess && code_table().first_time(~number(*function), number(module)))
                note_moved_here();
            return result;
        },
        name != nullptr ? name : "");
}

CGPU_HOOK cuModuleGetGlobal(CUdeviceptr_v1* address, unsigned* bytes, CUmodule module, const char* name) {
    return using_code(number(module), "module",
                      [&] { return real::cuModuleGetGlobal(address, bytes, module, name); });
}

CGPU_HOOK cuModuleGetGlobal_v2(CUdeviceptr* address, std::size_t* bytes, CUmodule module, const char* name) {
    return using_code(number(module), "module",
                      [&] { return real::cuModuleGetGlobal_v2(address, bytes, module, name); });
}

CGPU_HOOK cuLibraryLoadData(CUlibrary* library, const void* image, int* jit, void** jit_values,
                            unsigned jit_count, int* options, void** values, unsigned count) {
    return load_library(
        library, [&] { return image == nullptr ? 0 : image_size(image); },
        [&] {
            return real::cuLibraryLoadData(library, image, jit, jit_values, jit_count, options, values,
                                           count);
        });
}

CGPU_HOOK cuLibraryLoadFromFile(CUlibrary* library, const char* path, int* jit, void** jit_values,
                                unsigned jit_count, int* options, void** values, unsigned count) {
    return load_library(
        library, [&] { return image_file_size(path); },
        [&] {
            return real::cuLibraryLoadFromFile(library, path, jit, jit_values, jit_count, options, values,
                                               count);
        });
}

CGPU_HOOK cuLibraryUnload(CUlibrary library) {
    return unload(number(library), real::cuLibraryUnload(library));
}

CGPU_HOOK cuLibraryGetModule(CUmodule* module, CUlibrary library) {
    return using_code(number(library), "library", [&] {
        const CUresult result = real::cuLibraryGetModule(module, library);
        if (result == kSuccess)
            code_table().add_part(number(*module), number(library), CodeTable::Part::other);
        return result;
    });
}

CGPU_HOOK cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
    const CUresult result = real::cuLibraryGetKernel(kernel, library, name);
    if (result == kSuccess) code_table().add_part(number(*kernel), number(library), CodeTable::Part::kernel);
    return result;
}

CGPU_HOOK cuLibraryEnumerateKernels(CUkernel* kernels, unsigned count, CUlibrary library) {
    const CUresult result = real::cuLibraryEnumerateKernels(kernels, count, library);
    if (result != kSuccess || kernels == nullptr) return result;
    // The driver fills in the existing kernels, and no more than were requested.
    unsigned made = 0;
    if (real::cuLibraryGetKernelCount(&made, library) != kSuccess) return result;
    for (unsigned i = 0; i < std::min(count, made); ++i)
        code_table().add_part(number(kernels[i]), number(library), CodeTable::Part::kernel);
    return result;
}

CGPU_HOOK cuLibraryGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUlibrary library, const char* name) {
    return using_code(number(library), "library",
                      [&] { return real::cuLibraryGetGlobal(address, bytes, library, name); });
}

CGPU_HOOK cuFuncLoad(CUfunction function) {
    return using_code(number(function), "function", [&] { return real::cuFuncLoad(function); });
}

CGPU_HOOK cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
    return using_code(number(kernel), "kernel", [&] {
        const CUresult result = real::cuKernelGetFunction(function, kernel);
        if (result == kSuccess)
            code_table().add_part(number(*function), number(kernel), CodeTable::Part::function);
        return result;
    });
}

// What a function needs is known when its code is loaded, so the driver loads it to answer, or to note what
// is set. Runtimes ask before the first launch (cudaFuncGetAttributes, the occupancy calculator).

CGPU_HOOK cuFuncGetAttribute(int* value, int attribute, CUfunction function) {
    return using_code(number(function), "function",
                      [&] { return real::cuFuncGetAttribute(value, attribute, function); });
}

CGPU_HOOK cuFuncSetAttribute(CUfunction function, int attribute, int value) {
    return using_code(number(function), "function",
                      [&] { return real::cuFuncSetAttribute(function, attribute, value); });
}

CGPU_HOOK cuFuncSetCacheConfig(CUfunction function, int config) {
    return using_code(number(function), "function",
                      [&] { return real::cuFuncSetCacheConfig(function, config); });
}

CGPU_HOOK cuFuncSetSharedMemConfig(CUfunction function, int config) {
    return using_code(number(function), "function",
                      [&] { return real::cuFuncSetSharedMemConfig(function, config); });
}

CGPU_HOOK cuKernelGetAttribute(int* value, int attribute, CUkernel kernel, CUdevice device) {
    return using_code(number(kernel), "kernel",
                      [&] { return real::cuKernelGetAttribute(value, attribute, kernel, device); });
}

CGPU_HOOK cuKernelSetAttribute(int attribute, int value, CUkernel kernel, CUdevice device) {
    return using_code(number(kernel), "kernel",
                      [&] { return real::cuKernelSetAttribute(attribute, value, kernel, device); });
}

CGPU_HOOK cuKernelSetCacheConfig(CUkernel kernel, int config, CUdevice device) {
    return using_code(number(kernel), "kernel",
                      [&] { return real::cuKernelSetCacheConfig(kernel, config, device); });
}

CGPU_HOOK cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, CUfunction function, int blocks,
                                                  int threads) {
    return using_code(number(function), "function", [&] {
        return real::cuOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, threads);
    });
}

CGPU_HOOK cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                      std::size_t bytes) {
    return using_code(number(function), "function", [&] {
        return real::cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, bytes);
    });
}

CGPU_HOOK cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function, int threads,
                                                               std::size_t bytes, unsigned flags) {
    return using_code(number(function), "function", [&] {
        return real::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, bytes,
                                                                          flags);
    });
}

CGPU_HOOK cuOccupancyMaxActiveClusters(int* clusters, CUfunction function, const CUlaunchConfig* config) {
    return using_code(number(function), "function",
                      [&] { return real::cuOccupancyMaxActiveClusters(clusters, function, config); });
}

CGPU_HOOK cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function,
                                           CUoccupancyB2DSize shared, std::size_t bytes, int limit) {
    return using_code(number(function), "function", [&] {
        return real::cuOccupancyMaxPotentialBlockSize(grid, block, function, shared, bytes, limit);
    });
}

CGPU_HOOK cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction function,
                                                    CUoccupancyB2DSize shared, std::size_t bytes, int limit,
                                                    unsigned flags) {
    return using_code(number(function), "function", [&] {
        return real::cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, shared, bytes, limit,
                                                               flags);
    });
}

CGPU_HOOK cuOccupancyMaxPotentialClusterSize(int* size, CUfunction function, const CUlaunchConfig* config) {
    return using_code(number(function), "function",
                      [&] { return real::cuOccupancyMaxPotentialClusterSize(size, function, config); });
}
