#include "tests/sim/driver/work/kernel_operation.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

#include "tests/sim/device/file/address.hpp"
#include "tests/sim/driver/runtime/runtime.hpp"
#include "tests/sim/driver/work/word_operation.hpp"

namespace simgpu {

namespace {

template <typename T>
T read(const void* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

constexpr Nanoseconds kShortestKernel = 2000;

/// Four bytes per element at 100 GB/s, and the least time of a launch.
Nanoseconds streaming_time(std::uint32_t elements) {
    return std::max<Nanoseconds>(kShortestKernel, Nanoseconds{elements} / 25);
}

/// Whether a kernel may access the range; if not, the context is broken as by CUDA's "illegal address".
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

/// A flag that is not in the driver's memory breaks the context, as a kernel that accesses it would.
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
    take_word(context.runtime(), operation, address, sizeof value);
    return operation;
}

Operation flag_set(Context& context, std::uint64_t address, std::uint32_t value) {
    Operation operation;
    operation.kind = RecordKind::kernel;
    operation.duration = kShortestKernel;
    if (!is_flag(context, address, CU_MEM_ACCESS_FLAGS_PROT_READWRITE)) return operation;
    operation.value = value;
    take_word(context.runtime(), operation, address, sizeof value);
    return operation;
}

}  // namespace

std::optional<Operation> kernel_operation(const Kernel& kernel, Context& context, void** parameters,
                                          void** extra) {
    Operation operation;
    operation.kind = RecordKind::kernel;
    if (kernel.kind == Kernel::Kind::busy && parameters) {
        // The most frequent launches take this short path.
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
