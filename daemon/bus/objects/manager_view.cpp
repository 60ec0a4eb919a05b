#include "daemon/bus/objects/manager_view.hpp"

#include <cstdint>

#include "core/model/utf8.hpp"

namespace cgpu::bus {

using model::valid_utf8;  // names of files have any bytes, and the bus takes nothing else

std::vector<Entry> entries_of(const model::Kept& kept) {
    std::vector<Entry> all;
    for (const auto& [key, figures] : kept) {
        auto& entry = all.emplace_back();
        entry.emplace("owner", sdbus::Variant(key.owner));
        entry.emplace("name", sdbus::Variant(key.name));
        entry.emplace("device", sdbus::Variant(key.device));
        if (figures.memory_limit)
            entry.emplace("memory-limit", sdbus::Variant(figures.memory_limit->count()));
        if (figures.weight) entry.emplace("weight", sdbus::Variant(*figures.weight));
        if (figures.high_priority) entry.emplace("high-priority", sdbus::Variant(*figures.high_priority));
    }
    return all;
}

std::vector<Entry> entries_of(const app::UnmanagedContainers::All& containers) {
    std::vector<Entry> all;
    for (const auto& [id, container] : containers) {
        std::vector<std::string> gpus;
        for (const auto& gpu : container.gpus) gpus.push_back(gpu.to_string());
        std::map<std::string, std::uint64_t> memory;
        for (const auto& [gpu, bytes] : container.held) memory.emplace(gpu.to_string(), bytes);
        const auto pid = container.attached ? static_cast<std::uint32_t>(container.attached->pid) : 0U;
        auto& entry = all.emplace_back();
        entry.emplace("id", sdbus::Variant(id.str()));
        entry.emplace("name", sdbus::Variant(container.name));
        entry.emplace("created", sdbus::Variant(container.created));
        entry.emplace("pid", sdbus::Variant(pid));
        entry.emplace("gpus", sdbus::Variant(gpus));
        entry.emplace("booked", sdbus::Variant(container.whole));
        entry.emplace("memory", sdbus::Variant(memory));
    }
    return all;
}

std::vector<Entry> entries_of(const app::ConfigurationProblems& problems) {
    std::vector<Entry> all;
    for (const auto& problem : problems) {
        auto& entry = all.emplace_back();
        entry.emplace("file", sdbus::Variant(valid_utf8(problem.file)));
        entry.emplace("line", sdbus::Variant(problem.line));
        entry.emplace("message", sdbus::Variant(valid_utf8(problem.message)));
        entry.emplace("since", sdbus::Variant(problem.since));
    }
    return all;
}

std::vector<Entry> entries_of(const app::ConfigurationValues& values) {
    std::vector<Entry> all;
    for (const auto& value : values) {
        auto& entry = all.emplace_back();
        entry.emplace("key", sdbus::Variant(valid_utf8(value.key)));
        entry.emplace("value", sdbus::Variant(valid_utf8(value.value)));
        entry.emplace("source", sdbus::Variant(valid_utf8(value.source)));
        if (value.configured.empty()) continue;
        entry.emplace("configured", sdbus::Variant(valid_utf8(value.configured)));
        entry.emplace("configured-source", sdbus::Variant(valid_utf8(value.configured_source)));
        entry.emplace("remedy", sdbus::Variant(valid_utf8(value.remedy)));
    }
    return all;
}

}  // namespace cgpu::bus
