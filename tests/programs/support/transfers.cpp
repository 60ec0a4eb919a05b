#include "tests/programs/support/transfers.hpp"

#include <utility>

#include "tests/programs/support/common.hpp"
#include "tests/sim/include/simgpu/cuda_graph.h"
#include "tests/sim/include/simgpu/cuda_memory.h"

namespace programs {
namespace {

constexpr std::size_t kRow = 4096;

/// A block of LZ4 without matches: the token, the length, and the bytes themselves.
std::vector<unsigned char> stored(std::size_t bytes) {
    std::vector<unsigned char> block{0xf0};
    std::size_t rest = bytes - 15;
    for (; rest >= 255; rest -= 255) block.push_back(255);
    block.push_back(static_cast<unsigned char>(rest));
    block.insert(block.end(), bytes, 7);
    return block;
}

template <class T>
T* as_pointer(CUdeviceptr address) {
    return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr): the driver's interface
}

CUDA_MEMCPY3D_PEER box_of_peers(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    CUDA_MEMCPY3D_PEER box{};
    box.srcMemoryType = box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    box.srcDevice = from;
    box.dstDevice = to;
    box.srcPitch = box.dstPitch = box.WidthInBytes = kRow;
    box.srcHeight = box.dstHeight = box.Height = bytes / kRow;
    box.Depth = 1;
    return box;
}

CUDA_MEMCPY3D_BATCH_OP box_of_a_batch(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    CUDA_MEMCPY3D_BATCH_OP box{};
    box.src.type = box.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    box.src.op.ptr.ptr = from;
    box.dst.op.ptr.ptr = to;
    box.extent = {kRow, bytes / kRow, 1};
    box.srcAccessOrder = 1;  // in stream order
    return box;
}

/// A function of CUDA 13.2, which the driver that the program was linked with need not have.
void* of_13_2(const char* name) {
    void* function = nullptr;
    CUdriverProcAddressQueryResult found{};
    must(cuGetProcAddress(name, &function, 13020, CU_GET_PROC_ADDRESS_DEFAULT, &found), "cuGetProcAddress");
    must(function != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND, name);
    return function;
}

using WithAttributes = CUresult (*)(CUdeviceptr, CUdeviceptr, std::size_t, void*, CUstream);
using BoxWithAttributes = CUresult (*)(CUDA_MEMCPY3D_BATCH_OP*, unsigned long long, CUstream);

}  // namespace

std::vector<std::string> Transfers::kinds() {
    return {"peer", "box-peer", "box-batch", "decompress", "attributes", "box-attributes"};
}

Transfers::Transfers(std::string kind, std::size_t bytes) : kind_(std::move(kind)), bytes_(bytes) {
    must(cuCtxGetCurrent(&context_), "cuCtxGetCurrent");
    must(cuMemAlloc(&to_, bytes), "cuMemAlloc");
    const auto block = stored(bytes);
    must(cuMemAlloc(&from_, block.size()), "cuMemAlloc");
    must(cuMemAlloc(&written_, sizeof(unsigned int)), "cuMemAlloc");
    must(cuMemcpyHtoD(from_, block.data(), block.size()), "cuMemcpyHtoD");
    compressed_ = block.size();
    if (kind_ == "attributes") attributed_ = of_13_2("cuMemcpyWithAttributesAsync");
    if (kind_ == "box-attributes") attributed_ = of_13_2("cuMemcpy3DWithAttributesAsync");
}

void Transfers::decompress(CUstream stream) const {
    CUmemDecompressParams parameters{};
    parameters.srcNumBytes = compressed_;
    parameters.dstNumBytes = bytes_;
    parameters.dstActBytes = as_pointer<cuuint32_t>(written_);
    parameters.src = as_pointer<const void>(from_);
    parameters.dst = as_pointer<void>(to_);
    parameters.algo = CU_MEM_DECOMPRESS_ALGORITHM_LZ4;
    must(cuMemBatchDecompressAsync(&parameters, 1, 0, nullptr, stream), "cuMemBatchDecompressAsync");
}

void Transfers::submit(CUstream stream) const {
    auto box = box_of_a_batch(to_, from_, bytes_);
    if (kind_ == "peer") {
        must(cuMemcpyPeerAsync(to_, context_, from_, context_, bytes_, stream), "cuMemcpyPeerAsync");
    } else if (kind_ == "box-peer") {
        const auto peers = box_of_peers(to_, from_, bytes_);
        must(cuMemcpy3DPeerAsync(&peers, stream), "cuMemcpy3DPeerAsync");
    } else if (kind_ == "box-batch") {
        must(cuMemcpy3DBatchAsync(1, &box, 0, stream), "cuMemcpy3DBatchAsync");
    } else if (kind_ == "attributes") {
        must(reinterpret_cast<WithAttributes>(attributed_)(to_, from_, bytes_, nullptr, stream),
             "cuMemcpyWithAttributesAsync");
    } else if (kind_ == "box-attributes") {
        must(reinterpret_cast<BoxWithAttributes>(attributed_)(&box, 0, stream),
             "cuMemcpy3DWithAttributesAsync");
    } else {
        decompress(stream);
    }
}

}  // namespace programs
