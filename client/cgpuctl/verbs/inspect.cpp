#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "client/cgpuctl/output/people.hpp"
#include "client/cgpuctl/output/table.hpp"
#include "client/cgpuctl/verbs/looking.hpp"
#include "core/model/bytes.hpp"

namespace cgpu::cgpuctl {
namespace {

constexpr std::size_t kRule = 70;

/// What a GPU, or the node, has and has granted. GiB are those by which containers request: the card counts
/// as its whole GiB, and an instance with the limit of 4 of 15 has 4 (docs/requests.md).
struct Sum {
    std::uint64_t allocated = 0;  ///< bytes
    std::uint64_t total = 0;      ///< bytes
    double allocated_gib = 0;
    double total_gib = 0;

    void add(const Sum& other) {
        allocated += other.allocated;
        total += other.total;
        allocated_gib += other.allocated_gib;
        total_gib += other.total_gib;
    }
};

double gib_of_card(std::uint64_t bytes, const client::Gpu& gpu) {
    if (gpu.memory_total == 0) return 0;
    const auto whole = std::max<std::uint64_t>(gpu.memory_total / model::Bytes::kPerGib, 1);
    return static_cast<double>(bytes) * static_cast<double>(whole) / static_cast<double>(gpu.memory_total);
}

Sum sum_of(const client::Gpu& gpu) {
    return {gpu.memory_allocated, gpu.memory_total, gib_of_card(gpu.memory_allocated, gpu),
            gib_of_card(gpu.memory_total, gpu)};
}

/// With one decimal, or none if that would be 0.
std::string gib_text(double gib) {
    const auto tenths = static_cast<long>(std::lround(gib * 10));
    const auto text = std::to_string(tenths / 10);
    return tenths % 10 == 0 ? text : text + "." + std::to_string(tenths % 10);
}

std::string of_text(const Sum& sum) { return gib_text(sum.allocated_gib) + "/" + gib_text(sum.total_gib); }

/// Rounded: limits are whole MiB, so 4 of 15 GiB and 8 of 15 are a little less than that part of the card.
std::string per_cent_text(const Sum& sum) {
    return std::to_string(sum.total == 0 ? 0 : (sum.allocated * 100 + sum.total / 2) / sum.total) + "%";
}

std::string host_name() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    return name.data();
}

std::vector<client::Gpu> present_gpus(const client::Snapshot& snapshot) {
    std::vector<client::Gpu> gpus;
    std::ranges::copy_if(snapshot.gpus, std::back_inserter(gpus), &client::Gpu::present);
    return gpus;
}

void print_node(const std::vector<client::Gpu>& gpus, const Sum& all, Terminal& terminal) {
    std::vector<std::string> heads = {"NAME"};
    std::vector<std::string> cells = {host_name()};
    for (const client::Gpu& gpu : gpus) {
        heads.push_back("GPU" + std::to_string(gpu.index) + "(Allocated/Total)");
        cells.push_back(of_text(sum_of(gpu)));
    }
    heads.emplace_back("GPU Memory(GiB)");
    cells.push_back(of_text(all));
    Table table(std::move(heads));
    table.add(std::move(cells));
    table.print(terminal, true);
    terminal.out() << std::string(kRule, '-') << "\nAllocated/Total GPU Memory In Node:\n"
                   << of_text(all) << " (" << per_cent_text(all) << ")\n";
}

void print_details(const client::Snapshot& snapshot, const std::vector<client::Gpu>& gpus, const Sum& all,
                   UserNames users, Terminal& terminal) {
    terminal.out() << "NAME:  " << host_name() << "\n\n";
    std::vector<std::string> heads = {"NAME", "ID"};
    for (const client::Gpu& gpu : gpus) heads.push_back("GPU" + std::to_string(gpu.index) + "(Allocated)");
    heads.emplace_back("OWNER");
    Table table(std::move(heads));
    for (const client::Instance& instance : snapshot.instances) {
        std::vector<std::string> cells = {shown_name(instance.name), short_id(instance.id)};
        for (const client::Gpu& gpu : gpus) {
            const client::OnGpu* place = instance.on(gpu.uuid);
            cells.push_back(place == nullptr ? "0" : gib_text(gib_of_card(place->quota.memory_limit, gpu)));
        }
        cells.push_back(owner_text(instance.owner, instance.declared_owner, users));
        table.add(std::move(cells));
    }
    table.print(terminal, true);
    terminal.out() << "Allocated :  " << gib_text(all.allocated_gib) << " (" << per_cent_text(all) << ")\n"
                   << "Total :      " << gib_text(all.total_gib) << "\n"
                   << std::string(kRule, '-') << "\n\nAllocated/Total GPU Memory In Node:  " << of_text(all)
                   << " (" << per_cent_text(all) << ")\n";
}

Json instances_json(const client::Snapshot& snapshot) {
    Json instances = Json::array();
    for (const client::Instance& instance : snapshot.instances) {
        Json gpus = Json::array();
        for (const client::OnGpu& place : instance.gpus)
            gpus.push_back({{"index", place.quota.gpu_index},
                            {"uuid", place.quota.gpu},
                            {"memory_allocated_bytes", place.quota.memory_limit}});
        instances.push_back({{"id", instance.id},
                             {"name", instance.name},
                             {"owner", instance.owner ? Json(*instance.owner) : Json()},
                             {"declared_owner", instance.declared_owner},
                             {"gpus", std::move(gpus)}});
    }
    return instances;
}

std::string as_json(const client::Snapshot& snapshot, const std::vector<client::Gpu>& gpus, const Sum& all,
                    bool details) {
    Json list = Json::array();
    for (const client::Gpu& gpu : gpus)
        list.push_back({{"index", gpu.index},
                        {"uuid", gpu.uuid},
                        {"memory_allocated_bytes", gpu.memory_allocated},
                        {"memory_total_bytes", gpu.memory_total}});
    Json json = {{"name", host_name()},
                 {"memory_allocated_bytes", all.allocated},
                 {"memory_total_bytes", all.total},
                 {"gpus", std::move(list)}};
    if (details) json["instances"] = instances_json(snapshot);
    return to_text(json);
}

}  // namespace

client::Result<void> inspect(const InspectInput& input, client::Node& node, Terminal& terminal) {
    const auto snapshot = node.read();
    if (!snapshot) return tl::unexpected(snapshot.error());
    const auto gpus = present_gpus(*snapshot);
    Sum all;
    for (const client::Gpu& gpu : gpus) all.add(sum_of(gpu));
    if (input.json)
        terminal.out() << as_json(*snapshot, gpus, all, input.details);
    else if (input.details)
        print_details(*snapshot, gpus, all, UserNames(input.host.empty()), terminal);
    else
        print_node(gpus, all, terminal);
    return {};
}

}  // namespace cgpu::cgpuctl
