#include "tests/sim/driver/kernels.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "tests/sim/device/address.hpp"
#include "tests/sim/driver/runtime.hpp"

namespace simgpu {

namespace {

const std::vector<Kernel>& all_kernels() {
    static const std::vector<Kernel> kernels = {
        {Kernel::Kind::busy, "busy", {{0, 8}}},
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

/// Addresses of the parameters, from whichever of the two ways the launch used.
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

template <typename T>
T read(const void* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

constexpr Nanoseconds kShortestKernel = 2000;

/// Four bytes an element at 100 GB/s, and what a launch takes at least.
Nanoseconds streaming_time(std::uint32_t elements) {
    return std::max<Nanoseconds>(kShortestKernel, Nanoseconds{elements} / 25);
}

/// Whether a kernel may touch the range; if not, the context is broken as by CUDA's "illegal address".
bool may_touch(Context& context, std::uint64_t address, std::uint32_t elements, CUmemAccess_flags wanted) {
    const std::uint64_t bytes = std::uint64_t{elements} * sizeof(float);
    const Memory& memory = context.runtime().memory();
    if (memory.covers(address, bytes) && !memory.refuses(context.ordinal(), address, bytes, wanted))
        return true;
    context.fail(CUDA_ERROR_ILLEGAL_ADDRESS);
    return false;
}

Effect fill_effect(Context& context, std::uint64_t address, float value, std::uint32_t count) {
    return [&context, address, value, count](const Record&) {
        if (count == 0 || !may_touch(context, address, count, CU_MEM_ACCESS_FLAGS_PROT_READWRITE)) return;
        std::fill_n(at_address<float>(address), count, value);
    };
}

Effect add_effect(Context& context, std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint32_t count) {
    return [&context, a, b, c, count](const Record&) {
        if (count == 0) return;
        if (!may_touch(context, a, count, CU_MEM_ACCESS_FLAGS_PROT_READ) ||
            !may_touch(context, b, count, CU_MEM_ACCESS_FLAGS_PROT_READ) ||
            !may_touch(context, c, count, CU_MEM_ACCESS_FLAGS_PROT_READWRITE)) {
            return;
        }
        const auto* left = at_address<const float>(a);
        const auto* right = at_address<const float>(b);
        std::transform(left, left + count, right, at_address<float>(c), std::plus<>());
    };
}

/// A flag that isn't in the driver's memory breaks the context, as a kernel that touches it would.
bool is_flag(Context& context, std::uint64_t address, CUmemAccess_flags wanted) {
    if (address % sizeof(std::uint32_t) == 0) return may_touch(context, address, 1, wanted);
    context.fail(CUDA_ERROR_ILLEGAL_ADDRESS);
    return false;
}

Operation flag_wait(Context& context, std::uint64_t address, std::uint32_t value) {
    Operation operation;
    operation.kind = RecordKind::kernel;
    if (!is_flag(context, address, CU_MEM_ACCESS_FLAGS_PROT_READ)) return operation;
    operation.kind = RecordKind::spin;
    operation.compare = Compare::equal;
    operation.value = value;
    context.runtime().words().take(operation, address, sizeof value);
    return operation;
}

Operation flag_set(Context& context, std::uint64_t address, std::uint32_t value) {
    Operation operation;
    operation.kind = RecordKind::kernel;
    operation.duration = kShortestKernel;
    if (!is_flag(context, address, CU_MEM_ACCESS_FLAGS_PROT_READWRITE)) return operation;
    operation.value = value;
    context.runtime().words().take(operation, address, sizeof value);
    return operation;
}

}  // namespace

const Kernel* find_kernel(const std::string& name) {
    const std::string wanted = plain_name(name);
    for (const Kernel& kernel : all_kernels()) {
        if (wanted == kernel.name) return &kernel;
    }
    return nullptr;
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

std::optional<Operation> kernel_operation(const Kernel& kernel, Context& context, void** parameters,
                                          void** extra) {
    Operation operation;
    operation.kind = RecordKind::kernel;
    if (kernel.kind == Kernel::Kind::busy && parameters) {
        // The launches that are made most often, straight.
        const auto microseconds = read<std::uint64_t>(parameters[0]);
        operation.duration = std::min<Nanoseconds>(
            static_cast<Nanoseconds>(std::min<std::uint64_t>(microseconds, kLongestKernel / 1000)) * 1000,
            kLongestKernel);
        return operation;
    }
    const std::vector<const void*> at = parameter_addresses(kernel, parameters, extra);
    if (at.size() != kernel.parameters.size()) return std::nullopt;
    switch (kernel.kind) {
        case Kernel::Kind::busy: {
            void* one = const_cast<void*>(at[0]);
            return kernel_operation(kernel, context, &one, nullptr);
        }
        case Kernel::Kind::rendezvous:
        case Kernel::Kind::group_rendezvous: {
            Observer& observer = context.runtime().observer();
            operation.kind = RecordKind::rendezvous;
            operation.gpus = read<std::uint32_t>(at[0]);
            if (at.size() > 1) operation.value = read<std::uint64_t>(at[1]);
            observer.open_ended_began();
            operation.effect = [&observer](const Record&) { observer.open_ended_ended(); };
            return operation;
        }
        case Kernel::Kind::fill: {
            const auto count = read<std::uint32_t>(at[2]);
            operation.duration = streaming_time(count);
            operation.effect = fill_effect(context, read<std::uint64_t>(at[0]), read<float>(at[1]), count);
            return operation;
        }
        case Kernel::Kind::wait_for_flag:
            return flag_wait(context, read<std::uint64_t>(at[0]), read<std::uint32_t>(at[1]));
        case Kernel::Kind::set_flag:
            return flag_set(context, read<std::uint64_t>(at[0]), read<std::uint32_t>(at[1]));
        case Kernel::Kind::vector_add: {
            const auto count = read<std::uint32_t>(at[3]);
            operation.duration = streaming_time(count);
            operation.effect = add_effect(context, read<std::uint64_t>(at[0]), read<std::uint64_t>(at[1]),
                                          read<std::uint64_t>(at[2]), count);
            return operation;
        }
    }
    return std::nullopt;
}

}  // namespace simgpu
