#include <fstream>
#include <map>
#include <string>

#include "tests/sim/nvml/driver.hpp"
#include "tests/sim/nvml/node.hpp"

using namespace simgpu;

namespace {

nvmlReturn_t answer_text(const std::string& text, char* to, unsigned int length) {
    return Node::device() ? copy_text(text, to, length) : NVML_ERROR_UNINITIALIZED;
}

}  // namespace

extern "C" {

nvmlReturn_t nvmlInit_v2() { return Node::initialize(); }
nvmlReturn_t nvmlInit() { return Node::initialize(); }
nvmlReturn_t nvmlInitWithFlags(unsigned int) { return Node::initialize(); }
nvmlReturn_t nvmlShutdown() { return Node::shut_down(); }

const char* nvmlErrorString(nvmlReturn_t result) {
    static const std::map<int, const char*> texts = {
        {NVML_SUCCESS, "Success"},
        {NVML_ERROR_UNINITIALIZED, "Uninitialized"},
        {NVML_ERROR_INVALID_ARGUMENT, "Invalid Argument"},
        {NVML_ERROR_NOT_SUPPORTED, "Not Supported"},
        {NVML_ERROR_NO_PERMISSION, "Insufficient Permissions"},
        {NVML_ERROR_NOT_FOUND, "Not Found"},
        {NVML_ERROR_INSUFFICIENT_SIZE, "Insufficient Size"},
        {NVML_ERROR_DRIVER_NOT_LOADED, "Driver Not Loaded"},
        {NVML_ERROR_GPU_IS_LOST, "GPU is lost"},
        {NVML_ERROR_ARGUMENT_VERSION_MISMATCH, "Argument Version Mismatch"},
    };
    const auto text = texts.find(result);
    return text == texts.end() ? "Unknown Error" : text->second;
}

nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned int length) {
    return answer_text(kNvmlDriver.version, version, length);
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char* version, unsigned int length) {
    const std::string text = std::to_string(kNvmlDriver.cuda_version / 1000) + "." + kNvmlDriver.version;
    return kNvmlDriver.tells_version_before_init() ? copy_text(text, version, length)
                                                   : answer_text(text, version, length);
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion(int* version) {
    if (!version) return NVML_ERROR_INVALID_ARGUMENT;
    *version = kNvmlDriver.cuda_version;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) {
    return nvmlSystemGetCudaDriverVersion(version);
}

nvmlReturn_t nvmlSystemGetProcessName(unsigned int pid, char* name, unsigned int length) {
    if (!Node::device()) return NVML_ERROR_UNINITIALIZED;
    if (!name || length == 0) return NVML_ERROR_INVALID_ARGUMENT;
    std::ifstream command("/proc/" + std::to_string(pid) + "/cmdline");
    std::string text;
    if (!std::getline(command, text, '\0')) return NVML_ERROR_NOT_FOUND;
    return copy_text(text.substr(0, length - 1), name, length);
}

}  // extern "C"
