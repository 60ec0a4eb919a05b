#include "tests/sim/driver/module/kernel.hpp"

#include <charconv>
#include <cstring>
#include <string_view>

namespace simgpu {

namespace {

const std::vector<Kernel>& all_kernels() {
    static const std::vector<Kernel> kernels = {
        {Kernel::Kind::busy, "busy", {{0, 8}}},
        {Kernel::Kind::busy, "local", {{0, 8}}},
        {Kernel::Kind::busy, "stacks", {{0, 8}}},
        {Kernel::Kind::rendezvous, "rendezvous", {{0, 4}}},
        {Kernel::Kind::group_rendezvous, "group_rendezvous", {{0, 4}, {8, 8}}},
        {Kernel::Kind::fill, "fill", {{0, 8}, {8, 4}, {12, 4}}},
        {Kernel::Kind::vector_add, "vector_add", {{0, 8}, {8, 8}, {16, 8}, {24, 4}}},
        {Kernel::Kind::wait_for_flag, "wait_for_flag", {{0, 8}, {8, 4}}},
        {Kernel::Kind::set_flag, "set_flag", {{0, 8}, {8, 4}}},
    };
    return kernels;
}

/// The function's own name in "_Z<length><name><types>", else the name as it is.
std::string plain_name(const std::string& name) {
    if (!name.starts_with("_Z")) return name;
    std::size_t length = 0;
    const char* end = name.data() + name.size();
    const auto [rest, error] = std::from_chars(name.data() + 2, end, length);
    if (error != std::errc{} || length > static_cast<std::size_t>(end - rest)) return name;
    return std::string(rest, length);
}

constexpr std::string_view kLocal = "local_";
constexpr std::string_view kStacks = "stacks_";
constexpr std::uint64_t kMostLocalBytes = std::uint64_t{512} * 1024;  ///< As CUDA has it.

/// @return nothing: the name isn't this one with a number of bytes behind it.
std::optional<std::uint64_t> read_bytes(const std::string& plain, std::string_view kind) {
    if (!plain.starts_with(kind)) return std::nullopt;
    std::uint64_t bytes = 0;
    const char* end = plain.data() + plain.size();
    const auto [rest, error] = std::from_chars(plain.data() + kind.size(), end, bytes);
    if (error != std::errc{} || rest != end || bytes == 0 || bytes > kMostLocalBytes) return std::nullopt;
    return bytes;
}

}  // namespace

std::vector<const void*> parameter_addresses(const Kernel& kernel, void** parameters, void** extra) {
    std::vector<const void*> addresses;
    if (parameters) {
        addresses.assign(parameters, parameters + kernel.parameters.size());
        return addresses;
    }
    const char* buffer = nullptr;
    std::size_t size = 0;
    for (void** item = extra; item && *item != CU_LAUNCH_PARAM_END; item += 2) {
        if (*item == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = static_cast<const char*>(item[1]);
        if (*item == CU_LAUNCH_PARAM_BUFFER_SIZE) size = *static_cast<const std::size_t*>(item[1]);
    }
    if (!buffer) return addresses;
    for (const KernelParameter& parameter : kernel.parameters) {
        std::size_t offset = parameter.offset;
        // A 64-bit count lies at the next multiple of eight.
        if (kernel.kind == Kernel::Kind::fill && offset == 12 && size >= 24) offset = 16;
        if (offset + parameter.size > size) return {};
        addresses.push_back(buffer + offset);
    }
    return addresses;
}

const Kernel* find_kernel(const std::string& name) {
    std::string wanted = plain_name(name);
    if (read_bytes(wanted, kLocal)) {
        wanted = "local";
    } else if (read_bytes(wanted, kStacks)) {
        wanted = "stacks";
    } else if (wanted == "local" || wanted == "stacks") {
        return nullptr;
    }
    for (const Kernel& kernel : all_kernels()) {
        if (wanted == kernel.name) return &kernel;
    }
    return nullptr;
}

std::uint64_t local_bytes(const std::string& name) {
    return read_bytes(plain_name(name), kLocal).value_or(0);
}

std::uint64_t stack_bytes(const std::string& name) {
    return read_bytes(plain_name(name), kStacks).value_or(0);
}

std::optional<std::vector<std::byte>> pack_parameters(const Kernel& kernel, void** parameters, void** extra) {
    const std::vector<const void*> at = parameter_addresses(kernel, parameters, extra);
    if (at.size() != kernel.parameters.size()) return std::nullopt;
    std::vector<std::byte> packed(kernel.parameters.back().offset + kernel.parameters.back().size);
    for (std::size_t i = 0; i < at.size(); ++i) {
        std::memcpy(packed.data() + kernel.parameters[i].offset, at[i], kernel.parameters[i].size);
    }
    return packed;
}

}  // namespace simgpu
