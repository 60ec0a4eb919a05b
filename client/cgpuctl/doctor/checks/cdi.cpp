// Whether the CDI specifications name files and GPUs that exist.
#include <algorithm>

#include "client/cgpuctl/doctor/checks/checks.hpp"
#include "client/cgpuctl/doctor/facts/cdi_paths.hpp"
#include "client/cgpuctl/output/format.hpp"

namespace cgpu::cgpuctl::doctor {

namespace {

constexpr const char* kCdi = "CDI";

/// `first`: one of the `missing` files that the specification names.
Finding stale(const std::string& file, const std::string& first, std::size_t missing) {
    return {Level::problem, kCdi,
            file + " is stale: it names " + first +
                (missing == 1 ? ", which does not exist"
                              : " and " + counted(missing - 1, "other file") + ", which do not exist"),
            "containers that get their GPU by CDI don't start",
            "nvidia-ctk cdi generate --output=" + file + ", or delete it if nothing uses it"};
}

/// The first GPU of cgpu's own specification that the node doesn't have; empty: there is none.
std::string missing_gpu(const Look& look, const std::string& text) {
    if (!look.snapshot) return {};
    for (const std::string& uuid : shared_gpus_of(text)) {
        const auto is_it = [&](const client::Gpu& gpu) { return gpu.present && gpu.uuid == uuid; };
        if (std::ranges::none_of(look.snapshot->gpus, is_it)) return uuid;
    }
    return {};
}

Finding stale_parts(const std::string& file, const std::string& uuid) {
    return {Level::problem, kCdi,
            file + " is stale: it describes parts of " + uuid + ", which is not in this node",
            "containers that name its devices are refused", "cgpuctl cdi generate --output " + file};
}

}  // namespace

Findings check_cdi(const Look& look) {
    Findings findings;
    std::size_t specs = 0;
    for (const char* folder : {"/etc/cdi", "/var/run/cdi"})
        for (const std::string& name : look.host.names_in(folder)) {
            if (!name.ends_with(".yaml") && !name.ends_with(".yml") && !name.ends_with(".json")) continue;
            ++specs;
            const std::string file = std::string(folder) + "/" + name;
            const auto [text, error] = look.host.read(file);
            if (error != 0) {
                findings.push_back(for_root(kCdi, file));
                continue;
            }
            if (const auto uuid = missing_gpu(look, text); !uuid.empty())
                findings.push_back(stale_parts(file, uuid));
            std::size_t missing = 0;
            std::string first;
            for (const std::string& path : host_paths_of(text))
                if (!look.host.exists(path) && missing++ == 0) first = path;
            if (missing == 0) continue;
            findings.push_back(stale(file, first, missing));
        }
    if (!findings.empty()) return findings;
    return {ok(kCdi, specs == 0 ? "there is no specification"
                                : counted(specs, "specification") + ", and all files named there exist")};
}

}  // namespace cgpu::cgpuctl::doctor
