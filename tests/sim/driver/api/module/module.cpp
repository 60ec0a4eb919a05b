#include "tests/sim/driver/module/module.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "tests/sim/driver/graph/capture.hpp"
#include "tests/sim/driver/module/image_size.hpp"
#include "tests/sim/driver/runtime/runtime.hpp"

using namespace simgpu;

namespace {

/// Code is loaded when it is needed, unless the program requests eager loading.
bool loads_eagerly() {
    const char* mode = std::getenv("CUDA_MODULE_LOADING");
    return mode && std::string_view(mode) == "EAGER";
}

CUresult load_module(CUmodule* handle, std::uint64_t image_bytes) {
    Context* context = nullptr;
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    if (const CUresult result = check_unsafe_call(); result != CUDA_SUCCESS) return result;
    if (!handle) return CUDA_ERROR_INVALID_VALUE;
    auto module = std::make_unique<Module>(image_bytes);
    if (loads_eagerly()) {
        const CUresult result = context->own_memory.load(*module);
        if (result != CUDA_SUCCESS) return result;
    }
    *handle = reinterpret_cast<CUmodule>(module.release());
    return CUDA_SUCCESS;
}

void unload_everywhere(Runtime& runtime, const Module& module) {
    for (Context* context : runtime.living_contexts()) context->own_memory.unload(module);
}

/// With eager loading a library is loaded into all existing contexts; into later ones when it is used there.
CUresult load_library(CUlibrary* handle, std::uint64_t image_bytes) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    if (!handle) return CUDA_ERROR_INVALID_VALUE;
    auto library = std::make_unique<Module>(image_bytes);
    if (loads_eagerly()) {
        for (Context* context : runtime->living_contexts()) {
            const CUresult result = context->own_memory.load(*library);
            if (result == CUDA_SUCCESS) continue;
            unload_everywhere(*runtime, *library);
            return result;
        }
    }
    *handle = reinterpret_cast<CUlibrary>(library.release());
    return CUDA_SUCCESS;
}

template <typename Handle>
CUresult unload(Handle handle) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    const std::unique_ptr<Module> module(from_handle<Module>(handle));
    if (!module) return CUDA_ERROR_INVALID_HANDLE;
    unload_everywhere(*runtime, *module);
    return CUDA_SUCCESS;
}

template <typename Handle, typename Owner>
CUresult find_function(Handle* handle, Owner owner, const char* name) {
    if (!Runtime::get()) return CUDA_ERROR_NOT_INITIALIZED;
    if (!handle || !name) return CUDA_ERROR_INVALID_VALUE;
    Module* module = from_handle<Module>(owner);
    if (!module) return CUDA_ERROR_INVALID_HANDLE;
    Function* function = module->function(name);
    if (!function) return CUDA_ERROR_NOT_FOUND;
    *handle = reinterpret_cast<Handle>(function);
    return CUDA_SUCCESS;
}

CUresult file_size(const char* path, std::uint64_t& bytes) {
    if (!path) return CUDA_ERROR_INVALID_VALUE;
    struct stat status {};
    if (access(path, R_OK) != 0 || stat(path, &status) != 0) return CUDA_ERROR_FILE_NOT_FOUND;
    bytes = static_cast<std::uint64_t>(status.st_size);
    return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuModuleLoadData(CUmodule* handle, const void* image) {
    return image ? load_module(handle, image_size(image)) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuModuleLoadDataEx(CUmodule* handle, const void* image, unsigned int, int*, void**) {
    return cuModuleLoadData(handle, image);
}

CUresult cuModuleLoadFatBinary(CUmodule* handle, const void* image) {
    return cuModuleLoadData(handle, image);
}

CUresult cuModuleLoad(CUmodule* handle, const char* path) {
    std::uint64_t bytes = 0;
    const CUresult result = file_size(path, bytes);
    return result == CUDA_SUCCESS ? load_module(handle, bytes) : result;
}

CUresult cuModuleUnload(CUmodule handle) { return unload(handle); }

CUresult cuModuleGetFunction(CUfunction* function, CUmodule handle, const char* name) {
    const CUresult result = find_function(function, handle, name);
    if (result != CUDA_SUCCESS) return result;
    // Loading may be delayed up to this point.
    Context* context = nullptr;
    const CUresult current = current_context(context);
    return current == CUDA_SUCCESS ? context->own_memory.load(*from_handle<Module>(handle)) : current;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr*, std::size_t*, CUmodule handle, const char*) {
    if (!Runtime::get()) return CUDA_ERROR_NOT_INITIALIZED;
    return from_handle<Module>(handle) ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
    if (!mode) return CUDA_ERROR_INVALID_VALUE;
    *mode = loads_eagerly() ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary* handle, const void* code, int*, void**, unsigned int, int*, void**,
                           unsigned int) {
    return code ? load_library(handle, image_size(code)) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuLibraryLoadFromFile(CUlibrary* handle, const char* path, int*, void**, unsigned int, int*, void**,
                               unsigned int) {
    std::uint64_t bytes = 0;
    const CUresult result = file_size(path, bytes);
    return result == CUDA_SUCCESS ? load_library(handle, bytes) : result;
}

CUresult cuLibraryUnload(CUlibrary handle) { return unload(handle); }

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary handle, const char* name) {
    return find_function(kernel, handle, name);
}

CUresult cuLibraryGetModule(CUmodule* module, CUlibrary handle) {
    Context* context = nullptr;
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    if (!module) return CUDA_ERROR_INVALID_VALUE;
    if (!from_handle<Module>(handle)) return CUDA_ERROR_INVALID_HANDLE;
    *module = reinterpret_cast<CUmodule>(handle);
    return CUDA_SUCCESS;
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
    Context* context = nullptr;
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    if (!function) return CUDA_ERROR_INVALID_VALUE;
    if (!from_handle<Function>(kernel)) return CUDA_ERROR_INVALID_HANDLE;
    *function = reinterpret_cast<CUfunction>(kernel);
    return CUDA_SUCCESS;
}

}  // extern "C"
