#include "tests/sim/driver/base/device_attributes.hpp"

#include <map>

#include "tests/sim/driver/base/abi.hpp"

namespace simgpu {

namespace {

/// Attributes (by the number of their CUdevice_attribute) that all simulated GPUs share: those of a V100.
const std::map<int, int>& common_attributes() {
    static const std::map<int, int> attributes = {
        {1, 1024},     {2, 1024},   {3, 1024},    {4, 64},         {5, 2147483647},  {6, 65535},
        {7, 65535},    {8, 49152},  {9, 65536},   {10, 32},        {11, 2147483647}, {12, 65536},
        {14, 512},     {15, 1},     {19, 1},      {21, 131072},    {22, 131072},     {23, 65536},
        {24, 16384},   {25, 16384}, {26, 16384},  {27, 32768},     {28, 32768},      {29, 2048},
        {30, 512},     {31, 1},     {32, 1},      {38, 6291456},   {39, 2048},       {40, 2},
        {41, 1},       {42, 32768}, {43, 2048},   {44, 1},         {45, 32768},      {46, 32768},
        {47, 8192},    {48, 8192},  {49, 32768},  {51, 32},        {52, 32768},      {53, 32768},
        {54, 2046},    {55, 32768}, {56, 131072}, {57, 65536},     {58, 16384},      {59, 16384},
        {60, 16384},   {61, 32768}, {62, 2048},   {63, 32768},     {64, 32768},      {65, 2048},
        {66, 32768},   {67, 32768}, {68, 2046},   {69, 268435456}, {70, 131072},     {71, 65000},
        {72, 2097120}, {73, 32768}, {74, 32768},  {77, 32768},     {78, 1},          {79, 1},
        {80, 1},       {81, 98304}, {82, 65536},  {83, 1},         {87, 2},          {89, 1},
        {90, 1},       {91, 1},     {95, 1},      {97, 98304},     {99, 1},          {102, 1},
        {103, 1},      {106, 32},   {115, 1},     {119, 1},        {122, 1},         {123, 1},
        {125, 1},      {141, 1},    {145, 1},
    };
    return attributes;
}

}  // namespace

int device_attribute(const Card& card, int attribute) {
    switch (attribute) {
        case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
            return card.clock_mhz * 1000;
        case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
            return card.sm_count;
        case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
            return static_cast<int>(card.pci_bus);
        case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
            return static_cast<int>(card.pci_device);
        case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
            return static_cast<int>(card.pci_domain);
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
            return card.cc_major;
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
            return card.cc_minor;
        case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
            return card.memory_clock_mhz * 1000;
        case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
            return card.memory_bus_bits;
    }
    const auto common = common_attributes().find(attribute);
    return common == common_attributes().end() ? 0 : common->second;
}

}  // namespace simgpu
