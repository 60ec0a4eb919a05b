#include "daemon/store/lease_record.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>

#include "core/history/checksum.hpp"
#include "core/wire/limits.hpp"

namespace cgpu::store {
namespace {

bool put_padded(std::span<char> field, std::string_view text) {
    if (text.size() > field.size()) return false;
    std::fill(std::copy(text.begin(), text.end(), field.begin()), field.end(), '\0');
    return true;
}

std::string_view read_padded(std::span<const char> field) {
    return {field.data(),
            static_cast<std::size_t>(std::find(field.begin(), field.end(), '\0') - field.begin())};
}

/// More than any GPU has.
constexpr std::uint64_t kBytesMask = (std::uint64_t{1} << 48U) - 1;

/// Which one of a record it is, or that of the header.
enum class Amount : std::uint64_t { lease = 1, unsized = 2, records = 3 };

/// The bytes with their check above them.
std::uint64_t checked(std::uint64_t bytes, Amount which, std::uint32_t key_check) {
    bytes = std::min(bytes, kBytesMask / wire::kGranule * wire::kGranule);
    const std::array<std::uint64_t, 2> words{bytes, static_cast<std::uint64_t>(which) << 32U | key_check};
    const auto sum = history::checksum(std::as_bytes(std::span(words)));
    return bytes | std::uint64_t{(sum ^ sum >> 16U) & 0xFFFFU} << 48U;
}

std::optional<std::uint64_t> bytes_in(std::uint64_t word, Amount which, std::uint32_t key_check) {
    const auto bytes = word & kBytesMask;
    return checked(bytes, which, key_check) == word ? std::optional(bytes) : std::nullopt;
}

}  // namespace

void LeaseFileHeader::set_record_count(std::uint64_t count) {
    records.store(checked(count, Amount::records, 0), std::memory_order_release);
}

std::optional<std::uint64_t> LeaseFileHeader::record_count() const {
    return bytes_in(records.load(std::memory_order_relaxed), Amount::records, 0);
}

std::uint32_t LeaseRecord::check_of_key() const {
    std::array<std::byte, sizeof pid + sizeof start_time + sizeof generation + sizeof gpu + sizeof boot_id +
                              sizeof instance>
        all;
    auto* at = all.data();
    const auto add = [&](const auto& field) {
        std::memcpy(at, &field, sizeof field);
        at += sizeof field;
    };
    add(pid);
    add(start_time);
    add(generation);
    add(gpu);
    add(boot_id);
    add(instance);
    return history::checksum(all);
}

void LeaseRecord::set(const app::LeaseAmounts& amounts) {
    lease.store(checked(amounts.lease, Amount::lease, key_check), std::memory_order_release);
    unsized.store(checked(amounts.unsized, Amount::unsized, key_check), std::memory_order_release);
}

void LeaseRecord::set_context_size(std::uint64_t bytes) {
    unsized.store(checked(bytes, Amount::unsized, key_check), std::memory_order_release);
}

std::optional<app::LeaseAmounts> LeaseRecord::amounts() const {
    const auto leased = bytes_in(lease.load(std::memory_order_relaxed), Amount::lease, key_check);
    const auto others = bytes_in(unsized.load(std::memory_order_relaxed), Amount::unsized, key_check);
    if (!leased || !others) return std::nullopt;
    return app::LeaseAmounts{*leased, *others};
}

bool LeaseRecord::add_checks() {
    const auto was = state.load(std::memory_order_relaxed);
    const auto leased = lease.load(std::memory_order_relaxed);
    const auto others = unsized.load(std::memory_order_relaxed);
    constexpr std::uint32_t kFreeThen = 0;
    if (leased > kBytesMask || others > kBytesMask) return was == kFreeThen;
    if (was == kFreeThen) {
        state.store(kFree, std::memory_order_relaxed);
        return true;
    }
    check_key();
    set({leased, others});
    return true;
}

bool LeaseRecord::put(const app::LeaseKey& key) {
    pid = key.process.pid;
    start_time = key.process.start_time;
    generation = key.pool.instance.generation;
    std::ranges::copy(key.pool.gpu.raw(), gpu);
    if (!put_padded(boot_id, key.process.boot_id) || !put_padded(instance, key.pool.instance.id.str()))
        return false;
    check_key();
    set({});
    // Last, because from here on the record is valid.
    state.store(kUsed, std::memory_order_release);
    return true;
}

void LeaseRecord::put(const app::LeaseTable::ContextSize& size) {
    std::ranges::copy(size.gpu.raw(), gpu);
    check_key();
    set({0, size.bytes});
    state.store(kContextSize, std::memory_order_release);
}

std::optional<app::LeaseTable::ContextSize> LeaseRecord::read_context_size() const {
    const auto sizes = amounts();
    if (key_check != check_of_key() || !sizes || sizes->unsized == 0) return std::nullopt;
    model::Uuid::Raw raw;
    std::ranges::copy(gpu, raw.begin());
    return app::LeaseTable::ContextSize{model::Uuid(raw), sizes->unsized};
}

std::optional<app::LeaseTable::Saved> LeaseRecord::read(std::size_t place) const {
    const auto id = model::InstanceId::parse(read_padded(instance));
    const auto held = amounts();
    const bool sane =
        key_check == check_of_key() && id && pid > 0 && held && held->lease % wire::kGranule == 0;
    if (!sane) return std::nullopt;
    model::Uuid::Raw raw;
    std::ranges::copy(gpu, raw.begin());
    return app::LeaseTable::Saved{
        place,
        {{{*id, generation}, model::Uuid(raw)}, {pid, start_time, std::string(read_padded(boot_id))}},
        *held};
}

}  // namespace cgpu::store
