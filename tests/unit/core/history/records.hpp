#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "core/history/record.hpp"

namespace cgpu::history {

constexpr std::uint64_t kSecondUs = 1'000'000;
constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::uint64_t kDayUs = 86'400 * kSecondUs;

/// The day of a time by UTC, as reports name it.
inline std::string utc_day(std::uint64_t us) { return "day " + std::to_string(us / kDayUs); }

inline model::Uuid gpu_of(std::uint8_t which) {
    model::Uuid::Raw raw{1};
    raw.back() = which;
    return model::Uuid(raw);
}

/// Of one interval of a minute in which `name` had GPU 0 for so many seconds.
inline Record minute(std::uint64_t begin_s, const std::string& name, double gpu_s) {
    Record record;
    record.number = 1;
    record.begin_us = begin_s * kSecondUs;
    record.duration_us = 60 * kSecondUs;
    record.instance = "id-of-" + name;
    record.name = name;
    record.gpu = gpu_of(0);
    record.reported_ns = static_cast<std::uint64_t>(gpu_s * 1e9);
    record.due_ns = 30 * kSecondNs;
    record.present_us = record.duration_us;
    record.measured = true;
    return record;
}

inline Record random_record(std::mt19937_64& random, std::uint64_t number) {
    const auto below = [&](std::uint64_t bound) { return random() % bound; };
    Record record;
    record.number = number;
    record.begin_us = below(std::uint64_t{1} << 52U);
    record.duration_us = below(std::uint64_t{3600} * kSecondUs);
    record.instance = std::string(1 + below(kMostInstanceBytes), static_cast<char>('a' + below(26)));
    record.name = std::string(below(kMostNameBytes + 1), static_cast<char>('a' + below(26)));
    record.gpu = gpu_of(static_cast<std::uint8_t>(below(8)));
    record.gpu_index = static_cast<std::uint32_t>(below(8));
    record.reported_ns = below(std::uint64_t{1} << 60U);
    record.granted_ns = below(std::uint64_t{1} << 60U);
    record.due_ns = below(std::uint64_t{1} << 60U);
    record.waited_ns = random();
    record.launches = random();
    record.refused = random();
    record.memory_limit = random();
    record.memory_peak = random();
    record.measured = below(2) == 1;
    record.ended = below(2) == 1;
    if (below(2) == 1)
        record.owner.user = static_cast<std::uint32_t>(random());
    else if (below(2) == 1)
        record.owner.declared = std::string(1 + below(model::kMaxOwnerName), 'd');
    record.memory_granted = below(std::uint64_t{1} << 50U);
    record.memory_used = below(std::uint64_t{1} << 50U);
    record.present_us = below(std::uint64_t{3600} * kSecondUs);
    record.instances = {static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random())};
    record.on_first_gpu = {static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random())};
    record.refused_starts = static_cast<std::uint32_t>(random());
    record.name.resize(
        std::min(record.name.size(), most_name_bytes(record.instance.size(), record.owner.declared.size())));
    return record;
}

inline std::vector<Record> random_records(std::mt19937_64& random, std::uint64_t first, std::size_t count) {
    std::vector<Record> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(random_record(random, first + i));
    return all;
}

}  // namespace cgpu::history
