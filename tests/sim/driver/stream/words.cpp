#include "tests/sim/driver/stream/words.hpp"

#include <cstring>

#include "tests/sim/device/file/address.hpp"
#include "tests/sim/device/ledger/ledger.hpp"
#include "tests/sim/driver/base/process.hpp"

namespace simgpu {

namespace {

std::uint64_t in_memory(std::uint64_t address, std::uint32_t bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, at_address<const void>(address), bytes);
    return value;
}

}  // namespace

std::uint32_t Words::enter(std::uint64_t address, std::uint32_t bytes) {
    Session session(process_.device());
    const std::lock_guard lock(mutex_);
    auto word = words_.find(address);
    if (word == words_.end()) {
        const auto index = Ledger(session).add_word(process_.slot(), bytes, in_memory(address, bytes));
        if (!index) return kMaxWords;
        word = words_.emplace(address, Word{*index, bytes}).first;
    }
    ++word->second.users;
    return word->second.index;
}

void Words::leave(std::uint64_t address) {
    Session session(process_.device());
    const std::lock_guard lock(mutex_);
    const auto word = words_.find(address);
    if (--word->second.users > 0) return;
    Ledger(session).remove_word(word->second.index);
    words_.erase(word);
}

bool Words::none() const {
    const std::lock_guard lock(mutex_);
    return words_.empty();
}

bool Words::refresh(Session& session) {
    const std::lock_guard lock(mutex_);
    bool differed = false;
    for (const auto& [address, word] : words_) {
        MemoryWord& copy = session.layout().timeline.words[word.index];
        const std::uint64_t value = in_memory(address, word.bytes);
        if (copy.value == value) continue;
        copy.value = value;
        differed = true;
    }
    return differed;
}

}  // namespace simgpu
