#include "tests/sim/driver/module.hpp"

#include <unistd.h>

#include "tests/sim/driver/capture.hpp"
#include "tests/sim/driver/runtime.hpp"

using namespace simgpu;

namespace {

CUresult load_module(CUmodule* handle) {
    Context* context = nullptr;
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    if (const CUresult result = check_unsafe_call(); result != CUDA_SUCCESS) return result;
    if (!handle) return CUDA_ERROR_INVALID_VALUE;
    *handle = reinterpret_cast<CUmodule>(new Module);
    return CUDA_SUCCESS;
}

template <typename Handle>
CUresult unload(Handle handle) {
    if (!Runtime::get()) return CUDA_ERROR_NOT_INITIALIZED;
    Module* module = from_handle<Module>(handle);
    if (!module) return CUDA_ERROR_INVALID_HANDLE;
    delete module;
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

CUresult check_file(const char* path) {
    if (!path) return CUDA_ERROR_INVALID_VALUE;
    return access(path, R_OK) == 0 ? CUDA_SUCCESS : CUDA_ERROR_FILE_NOT_FOUND;
}

}  // namespace

extern "C" {

CUresult cuModuleLoadData(CUmodule* handle, const void* image) {
    return image ? load_module(handle) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuModuleLoadDataEx(CUmodule* handle, const void* image, unsigned int, int*, void**) {
    return cuModuleLoadData(handle, image);
}

CUresult cuModuleLoadFatBinary(CUmodule* handle, const void* image) {
    return cuModuleLoadData(handle, image);
}

CUresult cuModuleLoad(CUmodule* handle, const char* path) {
    const CUresult result = check_file(path);
    return result == CUDA_SUCCESS ? load_module(handle) : result;
}

CUresult cuModuleUnload(CUmodule handle) { return unload(handle); }

CUresult cuModuleGetFunction(CUfunction* function, CUmodule handle, const char* name) {
    return find_function(function, handle, name);
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr*, std::size_t*, CUmodule handle, const char*) {
    if (!Runtime::get()) return CUDA_ERROR_NOT_INITIALIZED;
    return from_handle<Module>(handle) ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuModuleGetLoadingMode(int* mode) {
    if (!mode) return CUDA_ERROR_INVALID_VALUE;
    *mode = 1;  // eager
    return CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary* handle, const void* code, int*, void**, unsigned int, int*, void**,
                           unsigned int) {
    if (!Runtime::get()) return CUDA_ERROR_NOT_INITIALIZED;
    if (!handle || !code) return CUDA_ERROR_INVALID_VALUE;
    *handle = reinterpret_cast<CUlibrary>(new Module);
    return CUDA_SUCCESS;
}

CUresult cuLibraryLoadFromFile(CUlibrary* handle, const char* path, int*, void**, unsigned int, int*, void**,
                               unsigned int) {
    if (const CUresult result = check_file(path); result != CUDA_SUCCESS) return result;
    return cuLibraryLoadData(handle, path, nullptr, nullptr, 0, nullptr, nullptr, 0);
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
