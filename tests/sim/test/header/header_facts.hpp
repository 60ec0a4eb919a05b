#pragma once

#include <vector>

namespace simgpu::test {

struct Fact {
    const char* what;
    long long value;
};

std::vector<Fact> facts_of_our_header();
std::vector<Fact> facts_of_nvidias_header();

}  // namespace simgpu::test
