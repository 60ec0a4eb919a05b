// why: in words, why an instance gets what it gets of a GPU.
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/cgpuctl/base/gpu_meant.hpp"
#include "client/cgpuctl/base/instance_meant.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "client/cgpuctl/output/values.hpp"
#include "client/cgpuctl/queue/queued_text.hpp"
#include "client/cgpuctl/smi/reading.hpp"
#include "client/cgpuctl/why/account.hpp"
#include "client/cgpuctl/why/reasons.hpp"
#include "client/cgpuctl/why/why.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::ClientError;
using client::Result;

constexpr std::uint32_t kDefaultSeconds = 3;
constexpr std::uint32_t kMostSeconds = 3600;

Result<std::chrono::seconds> seconds_of(const WhyInput& input) {
    if (input.seconds.empty()) return std::chrono::seconds{kDefaultSeconds};
    const auto seconds = read_count("--seconds", input.seconds);
    if (!seconds) return tl::unexpected(seconds.error());
    if (*seconds == 0 || *seconds > kMostSeconds)
        return client::fail(ClientError::Kind::usage,
                            "--seconds " + input.seconds + ": it must be from 1 to 3600. Try: --seconds 3.");
    return std::chrono::seconds{*seconds};
}

/// The ratios' sum is 1.
Json account_json(const why::Observed& seen) {
    Json json = {{"others", Json::array()}};
    for (const why::Part& part : why::account_of(seen)) {
        switch (part.kind) {
            case why::Part::Kind::own:
                json["own"] = part.ratio;
                break;
            case why::Part::Kind::other:
                json["others"].push_back({{"id", part.id}, {"name", part.name}, {"ratio", part.ratio}});
                break;
            case why::Part::Kind::strangers:
                json["strangers"] = seen.strangers ? Json(part.ratio) : Json();
                break;
            case why::Part::Kind::switching:
                json["switching"] = part.ratio;
                break;
            case why::Part::Kind::idle:
                json["idle"] = part.ratio;
                break;
        }
    }
    return json;
}

Json to_json(const why::Observed& seen, const std::vector<why::Reason>& reasons) {
    Json json = {{"id", seen.id},
                 {"name", seen.name},
                 {"gpu", seen.gpu.uuid},
                 {"gpu_index", seen.gpu.index},
                 {"interval_seconds", seen.seconds},
                 {"share_due", seen.due ? Json(*seen.due) : Json()},
                 {"share_got", seen.due ? Json(why::own_part(seen)) : Json()},
                 {"waited_ratio", seen.due ? Json(seen.waited) : Json()},
                 {"account", seen.due ? account_json(seen) : Json()},
                 {"reasons", Json::array()}};
    for (const why::Reason& reason : reasons)
        json["reasons"].push_back({{"code", reason.code}, {"text", reason.text}});
    return json;
}

void print(const why::Observed& seen, const std::vector<why::Reason>& reasons, Terminal& terminal) {
    terminal.out() << shown_name(seen.name) << " on GPU " << seen.gpu.index << ", over "
                   << duration_text(static_cast<std::uint64_t>(seen.seconds * 1e9)) << ": ";
    if (seen.due)
        terminal.out() << "due " << share_text(*seen.due) << ", got " << share_text(why::own_part(seen))
                       << '\n';
    else
        terminal.out() << "not measured\n";
    if (seen.due) terminal.out() << "The GPU's time: " << why::account_text(why::account_of(seen)) << '\n';
    for (const why::Reason& reason : reasons) terminal.out() << "- " << reason.text << '\n';
}

/// The UUIDs of those of the instance's GPUs that are asked about.
Result<std::vector<std::string>> gpus_of(const client::Snapshot& snapshot, const std::string& id,
                                         const std::string& wanted, client::Node& node) {
    std::string only;
    if (!wanted.empty()) {
        const auto gpu = gpu_meant(snapshot, wanted, node);
        if (!gpu) return tl::unexpected(gpu.error());
        only = (*gpu)->uuid;
    }
    std::vector<std::string> uuids;
    for (const client::Instance& instance : snapshot.instances) {
        if (instance.id != id) continue;
        for (const client::OnGpu& place : instance.gpus)
            if (only.empty() || only == place.quota.gpu) uuids.push_back(place.quota.gpu);
    }
    if (uuids.empty() && !wanted.empty())
        return client::fail(ClientError::Kind::not_found,
                            "--gpu " + printable(wanted) +
                                ": the instance has no such GPU. Try: cgpuctl list, which shows its GPUs.");
    return uuids;
}

/// Several readings, because what is due changes with who is busy; few, because each costs cgpud some time.
Result<std::vector<smi::View>> read_for(std::chrono::seconds time, const smi::Reading& first,
                                        client::Node& node, const smi::Clock& clock) {
    constexpr int kReadings = 30;
    constexpr auto kLeast = std::chrono::milliseconds(100);
    const auto step = std::max<std::chrono::nanoseconds>(std::chrono::nanoseconds(time) / kReadings, kLeast);
    std::vector<smi::View> readings = {first.view};
    for (auto next = first.at + step;; next += step) {
        clock.sleep_until(next);
        auto reading = smi::take_reading(node, clock);
        if (!reading) return tl::unexpected(reading.error());
        reading->view.interval = reading->at - first.at;
        readings.push_back(std::move(reading->view));
        if (reading->at >= first.at + time) return readings;
    }
}

}  // namespace

Result<void> why_verb(const WhyInput& input, client::Node& node, Terminal& terminal) {
    const auto seconds = seconds_of(input);
    if (!seconds) return tl::unexpected(seconds.error());
    const auto clock = smi::system_clock();
    const auto first = smi::take_reading(node, clock);
    if (!first) return tl::unexpected(first.error());
    if (const auto* queued = queued_alone(first->view.snapshot, input.instance, said_by(input))) {
        print_queued(*queued, input, terminal);
        return {};
    }
    const auto meant = instance_meant(first->view.snapshot, input.instance, said_by(input), node);
    if (!meant) return tl::unexpected(meant.error());
    if ((*meant)->state == "reserved")
        return client::fail(ClientError::Kind::refused,
                            shown_name((*meant)->name, (*meant)->id) +
                                ": it is a reservation, so nothing of it computes. Try: start with its token "
                                "(CGPU_RESERVATION) what is to have its part.");
    const std::string id = (*meant)->id;
    const auto uuids = gpus_of(first->view.snapshot, id, input.gpu, node);
    if (!uuids) return tl::unexpected(uuids.error());
    const auto readings = read_for(*seconds, *first, node, clock);
    if (!readings) return tl::unexpected(readings.error());

    Json all = Json::array();
    for (const std::string& uuid : *uuids) {
        const auto seen = why::observe(*readings, id, uuid);
        if (!seen)
            return client::fail(ClientError::Kind::not_found,
                                input.instance + ": it ended while it was measured. Try: cgpuctl list.");
        const auto reasons = why::reasons(*seen);
        if (input.json)
            all.push_back(to_json(*seen, reasons));
        else
            print(*seen, reasons, terminal);
    }
    if (input.json) terminal.out() << to_text(all);
    return {};
}

}  // namespace cgpu::cgpuctl
