#include "client/cgpuctl/smi/smi.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "client/cgpuctl/base/gpu_meant.hpp"
#include "client/cgpuctl/smi/overview.hpp"
#include "client/cgpuctl/smi/query.hpp"
#include "client/cgpuctl/smi/request.hpp"

namespace cgpu::cgpuctl::smi {
namespace {

using What = Request::What;

constexpr const char* kHelp =
    "Usage: cgpu-smi [OPTIONS]\n"
    "Shows what the instances use of this node's GPUs, in the habit of nvidia-smi.\n"
    "\n"
    "Options:\n"
    "  -l, --loop SECONDS       read again and again; utilisation is that of the interval\n"
    "  -lms, --loop-ms MS       the same, in milliseconds, 100 at least\n"
    "  -c, --count N            end after N readings\n"
    "  -i, --id GPU[,GPU...]    only these GPUs: by index, UUID or PCI address\n"
    "  --json                   JSON: stable keys, bytes, seconds, ratios of 0..1\n"
    "  --query-gpu=FIELDS       a line for each GPU, with --format=csv\n"
    "  --query-instance=FIELDS  a line for each instance on each of its GPUs\n"
    "  --format=csv[,noheader][,nounits]\n"
    "  --help-query-gpu         the fields of --query-gpu\n"
    "  --help-query-instance    the fields of --query-instance\n"
    "  -h, --help               this help\n"
    "  --version                the version\n"
    "\n"
    "In a single reading, and in the first one of several, utilisation is the share that cgpud\n"
    "has measured, over about two seconds. N/A: the driver divides the compute, and nothing is\n"
    "measured. Programs that run outside cgpu don't count.\n"
    "Exit codes: as those of cgpuctl.\n"
    "\n"
    "Example:\n"
    "  cgpu-smi --query-instance=name,memory.used,utilization.gpu --format=csv,noheader -l 5\n";

/// Leaves only these GPUs, and the instances on them.
client::Result<void> select(client::Snapshot& snapshot, const std::vector<std::string>& wanted,
                            client::Node& node) {
    if (wanted.empty()) return {};
    std::vector<std::string> uuids;
    for (const std::string& name : wanted) {
        const auto gpu = gpu_meant(snapshot, name, node);
        if (!gpu) return tl::unexpected(gpu.error());
        uuids.push_back((*gpu)->uuid);
    }
    const auto is_other = [&uuids](const std::string& uuid) {
        return std::ranges::find(uuids, uuid) == uuids.end();
    };
    std::erase_if(snapshot.gpus, [&](const client::Gpu& gpu) { return is_other(gpu.uuid); });
    for (client::Instance& instance : snapshot.instances) {
        std::erase_if(instance.gpus, [&](const client::OnGpu& place) { return is_other(place.quota.gpu); });
        std::erase_if(instance.foreign_gpus,
                      [&](const client::ForeignGpu& gpu) { return is_other(gpu.uuid); });
    }
    std::erase_if(snapshot.instances, [](const client::Instance& each) {
        return each.gpus.empty() && each.foreign_gpus.empty();
    });
    return {};
}

client::Result<Reading> read(client::Node& node, const Request& request, const std::optional<Reading>& before,
                             const Clock& clock) {
    auto reading = take_reading(node, clock);
    if (!reading) return reading;
    if (const auto selected = select(reading->view.snapshot, request.gpus, node); !selected)
        return tl::unexpected(selected.error());
    if (before) reading->view.interval = reading->at - before->at;
    return reading;
}

std::string text_of(const Request& request, const View* before, const View& now) {
    if (request.what == What::table) return overview(before, now);
    if (request.what == What::json) return json_text(before, now);
    return csv_rows(request, before, now);
}

client::Result<void> read_and_print(const Request& request, client::Node& node, Terminal& terminal,
                                    const Clock& clock) {
    std::optional<Reading> before;
    const bool query = request.what == What::query_gpu || request.what == What::query_instance;
    const std::uint32_t count = request.every ? request.count.value_or(0) : 1;
    auto next = clock.now();
    for (std::uint32_t done = 1;; ++done) {
        auto reading = read(node, request, before, clock);
        if (!reading && done == 1) return tl::unexpected(reading.error());
        if (done == 1 && query && request.header) terminal.out() << csv_header(request);
        if (reading)
            terminal.out() << text_of(request, before ? &before->view : nullptr, reading->view) << std::flush;
        else
            terminal.error(reading.error().text);
        before = reading ? std::optional(std::move(*reading)) : std::nullopt;
        if (done == count || !terminal.out()) return {};
        next = std::max(next + *request.every, clock.now());
        clock.sleep_until(next);
    }
}

}  // namespace

client::Result<void> run(const std::vector<std::string>& arguments, client::Node& node, Terminal& terminal,
                         const Clock& clock) {
    const auto request = read_request(arguments);
    if (!request) return tl::unexpected(request.error());
    switch (request->what) {
        case What::help:
            terminal.out() << kHelp;
            return {};
        case What::version:
            terminal.out() << "cgpu-smi " CGPU_VERSION "\n";
            return {};
        case What::help_query_gpu:
        case What::help_query_instance:
            terminal.out() << fields_help(request->what);
            return {};
        case What::table:
        case What::json:
        case What::query_gpu:
        case What::query_instance:
            return read_and_print(*request, node, terminal, clock);
    }
    return {};
}

}  // namespace cgpu::cgpuctl::smi
