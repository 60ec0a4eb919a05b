#include "tests/sim/driver/work/word_operation.hpp"

#include <cstring>

#include "tests/sim/device/file/address.hpp"
#include "tests/sim/driver/runtime/runtime.hpp"

namespace simgpu {

namespace {

constexpr Nanoseconds kRetry = 1'000'000;

}  // namespace

void take_word(Runtime& runtime, Operation& operation, std::uint64_t address, std::uint32_t bytes) {
    Words& words = runtime.words();
    Observer& observer = runtime.observer();
    std::uint32_t index = words.enter(address, bytes);
    while (index == kMaxWords) {
        observer.observe();
        Observer::sleep_until(clock_now() + kRetry);
        index = words.enter(address, bytes);
    }
    operation.word = index + 1;
    observer.open_ended_began();
    const bool writes = operation.kind == RecordKind::kernel || operation.kind == RecordKind::write_word;
    const std::uint64_t value = operation.value;
    operation.effect = [&words, &observer, address, bytes, writes, value](const Record&) {
        if (writes) std::memcpy(at_address(address), &value, bytes);
        words.leave(address);
        observer.open_ended_ended();
    };
}

}  // namespace simgpu
