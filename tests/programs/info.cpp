// Prints what CUDA and NVML say about each device, one fact a line.
#include <cstdio>
#include <string>

#include "tests/programs/support/common.hpp"
#include "tests/programs/support/options.hpp"
#include "tests/sim/include/simgpu/nvml.h"

namespace {

using programs::must;
using programs::say;

std::string uuid_text(const CUuuid& uuid) {
    std::string text = "GPU-";
    for (int i = 0; i < 16; ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        char byte[3];
        std::snprintf(byte, sizeof byte, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
        text += byte;
    }
    return text;
}

void print_cuda(int device, const std::string& prefix, std::string& uuid_found) {
    char name[100];
    must(cuDeviceGetName(name, sizeof name, device), "cuDeviceGetName");
    say(prefix + "name", name);
    CUuuid uuid;
    must(cuDeviceGetUuid(&uuid, device), "cuDeviceGetUuid");
    uuid_found = uuid_text(uuid);
    say(prefix + "uuid", uuid_found);
    std::size_t total = 0;
    must(cuDeviceTotalMem(&total, device), "cuDeviceTotalMem");
    say(prefix + "total_mem", total);
    CUcontext context = nullptr;
    must(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    std::size_t free = 0;
    must(cuMemGetInfo(&free, &total), "cuMemGetInfo");
    say(prefix + "mem_info_free", free);
    say(prefix + "mem_info_total", total);
}

void print_nvml(const std::string& uuid, const std::string& prefix) {
    nvmlDevice_t device = nullptr;
    if (nvmlDeviceGetHandleByUUID(uuid.c_str(), &device) != NVML_SUCCESS) {
        say(prefix + "nvml", "not found");
        return;
    }
    nvmlMemory_t memory{};
    if (const auto result = nvmlDeviceGetMemoryInfo(device, &memory); result == NVML_SUCCESS) {
        say(prefix + "nvml_v1_total", memory.total);
        say(prefix + "nvml_v1_used", memory.used);
        say(prefix + "nvml_v1_free", memory.free);
    } else {
        say(prefix + "nvml_v1_error", nvmlErrorString(result));
    }
    nvmlMemory_v2_t more{};
    more.version = nvmlMemory_v2;
    if (const auto result = nvmlDeviceGetMemoryInfo_v2(device, &more); result == NVML_SUCCESS) {
        say(prefix + "nvml_v2_total", more.total);
        say(prefix + "nvml_v2_reserved", more.reserved);
        say(prefix + "nvml_v2_used", more.used);
        say(prefix + "nvml_v2_free", more.free);
    } else {
        say(prefix + "nvml_v2_error", nvmlErrorString(result));
    }
}

}  // namespace

int main(int argc, char** argv) {
    programs::Options options(
        "Prints what CUDA and NVML say about each device: lines 'device.<n>.<fact> <value>'");
    if (const auto status = options.parse(argc, argv)) return *status;
    must(cuInit(0), "cuInit");
    int count = 0;
    must(cuDeviceGetCount(&count), "cuDeviceGetCount");
    say("devices", static_cast<unsigned long long>(count));
    const nvmlReturn_t nvml = nvmlInit_v2();
    if (nvml != NVML_SUCCESS) say("nvml_error", nvmlErrorString(nvml));
    for (int device = 0; device < count; ++device) {
        const std::string prefix = "device." + std::to_string(device) + ".";
        std::string uuid;
        print_cuda(device, prefix, uuid);
        if (nvml == NVML_SUCCESS) print_nvml(uuid, prefix);
    }
    return 0;
}
