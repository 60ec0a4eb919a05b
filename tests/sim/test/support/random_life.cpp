#include "tests/sim/test/support/random_life.hpp"

#include <unistd.h>

#include <string>

#include "tests/sim/test/support/virtual_memory.hpp"

namespace simgpu::test {

namespace {

constexpr unsigned int kWritten = 0x5eed;  ///< The first word of all that is shared.
constexpr std::size_t kGranularity = 2 * kMiB;

}  // namespace

void RandomLife::live(int steps) {
    static constexpr Step kSteps[] = {
        &RandomLife::allocate,      &RandomLife::free,         &RandomLife::allocate_async,
        &RandomLife::free_async,    &RandomLife::create_array, &RandomLife::destroy_array,
        &RandomLife::create_mapped, &RandomLife::unmap,        &RandomLife::import_mapped,
        &RandomLife::share,         &RandomLife::open,         &RandomLife::close,
        &RandomLife::change_module, &RandomLife::compute,      &RandomLife::change_context,
    };
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.handleTypes = kFd;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    REQUIRE_OK(cuMemPoolCreate(&pool_, &properties));
    for (int step = 0; step < steps; ++step) (this->*kSteps[random_() % std::size(kSteps)])();
}

void RandomLife::give_all_back() {
    while (!plain_.empty()) free();
    while (!pooled_.empty()) free_async();
    while (!arrays_.empty()) destroy_array();
    while (!mapped_.empty()) unmap();
    while (!opened_.empty()) close();
    if (second_) change_context();
    if (module_) REQUIRE_OK(cuModuleUnload(module_));
    REQUIRE_OK(cuMemPoolDestroy(pool_));
    REQUIRE_OK(cuCtxSynchronize());
}

/// Mostly small, sometimes a large part of the card.
std::size_t RandomLife::some_bytes() {
    const std::size_t largest = random_() % 8 == 0 ? 300 * kMiB : 5 * kMiB;
    return 1 + random_() % largest;
}

bool RandomLife::got(CUresult result) {
    if (result != CUDA_ERROR_OUT_OF_MEMORY) REQUIRE_OK(result);
    return result == CUDA_SUCCESS;
}

template <typename T>
bool RandomLife::take_one(std::vector<T>& things, T& thing) {
    if (things.empty()) return false;
    std::swap(things[random_() % things.size()], things.back());
    thing = things.back();
    things.pop_back();
    return true;
}

void RandomLife::allocate() {
    CUdeviceptr pointer = 0;
    const std::size_t bytes = some_bytes() + sizeof kWritten;
    const bool managed = random_() % 4 == 0;
    const CUresult result =
        managed ? cuMemAllocManaged(&pointer, bytes, CU_MEM_ATTACH_GLOBAL) : cuMemAlloc(&pointer, bytes);
    if (!got(result)) return;
    REQUIRE_OK(cuMemsetD32(pointer, kWritten, 1));
    plain_.push_back(pointer);
}

void RandomLife::free() {
    CUdeviceptr pointer = 0;
    if (!take_one(plain_, pointer)) return;
    REQUIRE_OK(random_() % 2 ? cuMemFree(pointer) : cuMemFreeAsync(pointer, nullptr));
}

void RandomLife::allocate_async() {
    CUdeviceptr pointer = 0;
    const CUresult result = random_() % 2 ? cuMemAllocAsync(&pointer, some_bytes(), nullptr)
                                          : cuMemAllocFromPoolAsync(&pointer, some_bytes(), pool_, nullptr);
    if (got(result)) pooled_.push_back(pointer);
}

void RandomLife::free_async() {
    CUdeviceptr pointer = 0;
    if (take_one(pooled_, pointer)) REQUIRE_OK(cuMemFreeAsync(pointer, nullptr));
    if (random_() % 4 == 0) REQUIRE_OK(cuCtxSynchronize());
}

void RandomLife::create_array() {
    const CUDA_ARRAY3D_DESCRIPTOR extents{
        1 + random_() % 1000, 1 + random_() % 1000, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0};
    CUmipmappedArray array = nullptr;
    if (got(cuMipmappedArrayCreate(&array, &extents, 12))) arrays_.push_back(array);
}

void RandomLife::destroy_array() {
    CUmipmappedArray array = nullptr;
    if (take_one(arrays_, array)) REQUIRE_OK(cuMipmappedArrayDestroy(array));
}

void RandomLife::create_mapped() {
    const std::size_t bytes = (some_bytes() + kGranularity - 1) / kGranularity * kGranularity;
    const auto properties = on_gpu(0, kFd);
    CUmemGenericAllocationHandle handle = 0;
    if (!got(cuMemCreate(&handle, bytes, &properties, 0))) return;
    map(handle, bytes, true);
    if (random_() % 2) {
        int descriptor = -1;
        REQUIRE_OK(cuMemExportToShareableHandle(&descriptor, handle, kFd, 0));
        post_.descriptors.offer_descriptor(descriptor);
        ::close(descriptor);
    }
    REQUIRE_OK(cuMemRelease(handle));
}

void RandomLife::map(CUmemGenericAllocationHandle handle, std::size_t bytes, bool fresh) {
    const CUdeviceptr pointer = test::map(handle, bytes);
    if (fresh) REQUIRE_OK(cuMemsetD32(pointer, kWritten, 1));
    REQUIRE_EQ(read_word(pointer), kWritten);
    mapped_.push_back({pointer, bytes});
}

void RandomLife::unmap() {
    Mapped mapped{};
    if (take_one(mapped_, mapped)) test::unmap(mapped.pointer, mapped.bytes);
}

void RandomLife::import_mapped() {
    const int descriptor = post_.descriptors.receive_descriptor_if_any();
    if (descriptor < 0) return;
    const CUmemGenericAllocationHandle handle = import_memory(descriptor);
    ::close(descriptor);
    // Its size is not known; the first block exists in any case.
    map(handle, kGranularity, false);
    REQUIRE_OK(cuMemRelease(handle));
}

void RandomLife::share() {
    if (plain_.empty()) return;
    CUipcMemHandle handle{};
    const CUresult result = cuIpcGetMemHandle(&handle, plain_[random_() % plain_.size()]);
    if (result == CUDA_ERROR_INVALID_VALUE) return;  // managed
    if (got(result)) post_.ipc_handles.offer(handle);
}

void RandomLife::open() {
    const auto handle = post_.ipc_handles.receive_if_any<CUipcMemHandle>();
    CUdeviceptr pointer = 0;
    if (!handle) return;
    const CUresult result = cuIpcOpenMemHandle(&pointer, *handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    if (result == CUDA_ERROR_INVALID_VALUE) return;  // freed meanwhile
    if (result == CUDA_ERROR_INVALID_CONTEXT) {      // its own: for somebody else
        post_.ipc_handles.offer(*handle);
        return;
    }
    REQUIRE_OK(result);
    opened_.push_back(pointer);
}

void RandomLife::close() {
    CUdeviceptr pointer = 0;
    if (take_one(opened_, pointer)) REQUIRE_OK(cuIpcCloseMemHandle(pointer));
}

void RandomLife::change_module() {
    if (module_) REQUIRE_OK(cuModuleUnload(module_));
    REQUIRE_OK(cuModuleLoadData(&module_, std::string(1 + random_() % (4 * kMiB), 'x').c_str()));
}

void RandomLife::compute() {
    if (!module_ || mapped_.empty()) return;
    CUfunction fill = nullptr;
    if (!got(cuModuleGetFunction(&fill, module_, "fill"))) return;
    CUdeviceptr to = mapped_[random_() % mapped_.size()].pointer + kMiB;
    float value = 1;
    unsigned int count = 1000;
    void* parameters[] = {&to, &value, &count};
    got(cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
}

void RandomLife::change_context() {
    if (second_) {
        REQUIRE_OK(cuCtxDestroy(second_));
        second_ = nullptr;
    } else if (got(cuCtxCreate(&second_, nullptr, 0, 0))) {
        CUcontext popped = nullptr;
        REQUIRE_OK(cuCtxPopCurrent(&popped));
    }
}

}  // namespace simgpu::test
