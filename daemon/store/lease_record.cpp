#include "daemon/store/lease_record.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "daemon/app/memory/pool/lease_pool.hpp"

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

}  // namespace

bool LeaseRecord::put(const app::LeaseKey& key) {
    pid = key.process.pid;
    start_time = key.process.start_time;
    generation = key.pool.instance.generation;
    lease.store(0, std::memory_order_relaxed);
    unsized.store(0, std::memory_order_relaxed);
    std::ranges::copy(key.pool.gpu.raw(), gpu);
    if (!put_padded(boot_id, key.process.boot_id) || !put_padded(instance, key.pool.instance.id.str()))
        return false;
    // Last, because from here on the record is valid.
    state.store(kUsed, std::memory_order_release);
    return true;
}

void LeaseRecord::put(const app::LeaseTable::ContextSize& size) {
    std::ranges::copy(size.gpu.raw(), gpu);
    unsized.store(size.bytes, std::memory_order_relaxed);
    state.store(kContextSize, std::memory_order_release);
}

std::optional<app::LeaseTable::ContextSize> LeaseRecord::read_context_size() const {
    const auto bytes = unsized.load(std::memory_order_relaxed);
    if (bytes == 0 || bytes > app::kUnlimited) return std::nullopt;
    model::Uuid::Raw raw;
    std::ranges::copy(gpu, raw.begin());
    return app::LeaseTable::ContextSize{model::Uuid(raw), bytes};
}

std::optional<app::LeaseTable::Saved> LeaseRecord::read(std::size_t place) const {
    const auto id = model::InstanceId::parse(read_padded(instance));
    const app::LeaseAmounts amounts{lease.load(std::memory_order_relaxed),
                                    unsized.load(std::memory_order_relaxed)};
    const bool sane = id && pid > 0 && amounts.lease % wire::kGranule == 0 &&
                      amounts.lease <= app::kUnlimited && amounts.unsized <= app::kUnlimited;
    if (!sane) return std::nullopt;
    model::Uuid::Raw raw;
    std::ranges::copy(gpu, raw.begin());
    return app::LeaseTable::Saved{
        place,
        {{{*id, generation}, model::Uuid(raw)}, {pid, start_time, std::string(read_padded(boot_id))}},
        amounts};
}

}  // namespace cgpu::store
