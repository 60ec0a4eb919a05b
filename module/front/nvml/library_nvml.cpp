// Makes a front the front of libnvidia-ml.
#include <string_view>

#include "module/front/nvml/nvml_abi.hpp"

namespace cgpu::front {
namespace {

int not_loaded() { return nvml::kDriverNotLoaded; }
const char* not_loaded_in_words() { return "The driver's library can't be had: cgpud doesn't answer"; }

}  // namespace

constinit const wire::Library kLibrary = wire::Library::nvml;

void prepare_library(void*) {}

/// nvmlErrorString is the only function of NVML that doesn't return a number.
const void* answer_without_library(const char* function) {
    return std::string_view(function) == "nvmlErrorString"
               ? reinterpret_cast<const void*>(&not_loaded_in_words)
               : reinterpret_cast<const void*>(&not_loaded);
}

}  // namespace cgpu::front
