#include "daemon/bus/message/examined.hpp"

#include "core/model/utf8.hpp"

#include <cstdint>
#include <vector>

namespace cgpu::bus {
namespace {

using Facts = std::map<std::string, sdbus::Variant>;

Facts facts_of(const app::ExaminedGpu& gpu) {
    std::vector<sdbus::Struct<std::uint32_t, std::uint64_t>> processes;
    for (const app::DriverProcess& process : gpu.processes)
        processes.emplace_back(static_cast<std::uint32_t>(process.pid), process.bytes);
    Facts facts{{"uuid", sdbus::Variant(gpu.uuid.to_string())}, {"processes", sdbus::Variant(processes)}};
    facts.emplace("driver-limits", sdbus::Variant(std::string(gpu.limits.backend_name())));
    if (!gpu.limits.why_none.empty())
        facts.emplace("driver-limits-why", sdbus::Variant(model::valid_utf8(gpu.limits.why_none)));
    if (gpu.limits.own_limit)
        facts.emplace("driver-limits-own", sdbus::Variant(gpu.limits.own_limit->count()));
    if (gpu.persistence) facts.emplace("persistence", sdbus::Variant(*gpu.persistence));
    return facts;
}

}  // namespace

Facts facts_of(const app::Folders& folders, const app::Result<app::ExaminedDriver>& driver) {
    Facts facts{{"state-dir", sdbus::Variant(model::valid_utf8(folders.state.native()))},
                {"runtime-dir", sdbus::Variant(model::valid_utf8(folders.runtime.native()))},
                {"module-dir", sdbus::Variant(model::valid_utf8(folders.module.native()))}};
    if (!driver) {
        facts.emplace("driver-error", sdbus::Variant(model::valid_utf8(driver.error().text)));
        return facts;
    }
    std::vector<Facts> gpus;
    for (const app::ExaminedGpu& gpu : driver->gpus) gpus.push_back(facts_of(gpu));
    facts.emplace("driver-version", sdbus::Variant(model::valid_utf8(driver->version)));
    facts.emplace("gpus", sdbus::Variant(gpus));
    return facts;
}

}  // namespace cgpu::bus
