// Adds two vectors on the GPU and checks every element of the sum.
#include <vector>

#include "tests/programs/support/common.hpp"
#include "tests/programs/support/options.hpp"

namespace {

using programs::must;

CUdeviceptr on_device(const std::vector<float>& values) {
    CUdeviceptr pointer = 0;
    must(cuMemAlloc(&pointer, values.size() * sizeof(float)), "cuMemAlloc");
    must(cuMemcpyHtoD(pointer, values.data(), values.size() * sizeof(float)), "cuMemcpyHtoD");
    return pointer;
}

}  // namespace

int main(int argc, char** argv) {
    programs::Options options("Adds two vectors on the GPU; prints 'elements N' and 'wrong N'");
    unsigned int count = 1'000'000;
    int device = 0;
    options.value("--n", count, "Elements").positive();
    options.value("--device", device);
    if (const auto status = options.parse(argc, argv)) return *status;

    programs::use_device(device);
    std::vector<float> left(count);
    std::vector<float> right(count);
    for (unsigned int i = 0; i < count; ++i) {
        left[i] = static_cast<float>(i % 1000);
        right[i] = static_cast<float>(i % 77) * 2;
    }
    CUdeviceptr a = on_device(left);
    CUdeviceptr b = on_device(right);
    CUdeviceptr c = on_device(std::vector<float>(count, -1.0F));
    void* parameters[] = {&a, &b, &c, &count};
    must(cuLaunchKernel(programs::kernel("vector_add"), (count + 255) / 256, 1, 1, 256, 1, 1, 0, nullptr,
                        parameters, nullptr),
         "cuLaunchKernel");
    std::vector<float> sum(count);
    must(cuMemcpyDtoH(sum.data(), c, count * sizeof(float)), "cuMemcpyDtoH");
    unsigned long long wrong = 0;
    for (unsigned int i = 0; i < count; ++i) wrong += sum[i] != left[i] + right[i];
    programs::say("elements", count);
    programs::say("wrong", wrong);
    return wrong == 0 ? 0 : 1;
}
