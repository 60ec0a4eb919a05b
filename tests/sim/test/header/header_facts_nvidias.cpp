#include <cstddef>

#include <cuda.h>

#include "tests/sim/test/header/header_facts.hpp"

namespace simgpu::test {

std::vector<Fact> facts_of_nvidias_header() {
    return {
#define SIMGPU_FACT(expression) {#expression, static_cast<long long>(expression)},
#include "tests/sim/test/header/header_facts.inc"
#undef SIMGPU_FACT
#define SIMGPU_ERROR(name, value, text) {#name, static_cast<long long>(name)},
#include "tests/sim/include/simgpu/cuda_errors.inc"
#undef SIMGPU_ERROR
    };
}

}  // namespace simgpu::test
