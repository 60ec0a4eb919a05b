#include "client/fs/tree.hpp"

#include <algorithm>
#include <cerrno>

#include "core/model/instance_word.hpp"

namespace cgpu::fs {
namespace {

using client::Gpu;
using client::Instance;
using client::Snapshot;

/// Of cGPU's contract: folders have this many characters of an id.
constexpr std::size_t kShortId = 12;

const Gpu* find_gpu(const Snapshot& node, std::string_view name) {
    const auto found = std::ranges::find_if(
        node.gpus, [&](const Gpu& gpu) { return gpu.present && std::to_string(gpu.index) == name; });
    return found == node.gpus.end() ? nullptr : &*found;
}

const Instance* find_instance(const Snapshot& node, const Gpu& gpu, std::string_view name) {
    if (const auto found = std::ranges::find(node.instances, name, &Instance::id);
        found != node.instances.end())
        return found->on(gpu.uuid) == nullptr ? nullptr : &*found;
    if (name.size() < kShortId) return nullptr;
    std::vector<const Instance*> all;
    std::vector<model::Named> named;
    for (const Instance& each : node.instances) {
        if (each.on(gpu.uuid) == nullptr) continue;
        all.push_back(&each);
        named.push_back({each.id, {}});  // folders are never named after names
    }
    const auto meant = model::meant_by(name, named);
    return meant.size() == 1 ? all[meant.front()] : nullptr;
}

const ControlFile* find_file(Level level, std::string_view name) {
    const auto* found = std::ranges::find_if(
        kControlFiles, [&](const ControlFile& file) { return file.level == level && file.name == name; });
    return found == kControlFiles.end() ? nullptr : &*found;
}

/// The path's first name, which is taken off it.
std::string_view take_name(std::string_view& path) {
    path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
    const auto name = path.substr(0, path.find('/'));
    path.remove_prefix(name.size());
    return name;
}

std::string line(std::uint64_t number) { return std::to_string(number) + "\n"; }

/// cGPU's own format, with the host's pids.
std::string meminfo(const client::OnGpu& on) {
    const auto limit = on.quota.memory_limit;
    std::string text = "Free: " + line(limit - std::min(limit, on.usage.memory_used));
    for (const auto& [pid, bytes] : on.usage.memory_of_processes)
        text += "PID: " + std::to_string(pid) + " Mem: " + line(bytes);
    return text;
}

std::string job_text(const std::optional<client::Job>& job) {
    if (!job || job->kind == "mode") return "none\n";
    std::string text = job->kind + " " + job->target + " " + (job->ended() ? job->result : job->state);
    if (!job->ended()) text += " " + std::to_string(job->done) + "/" + std::to_string(job->all);
    if (!job->message.empty()) text += ": " + job->message;
    return text + "\n";
}

}  // namespace

tl::expected<Place, int> find_place(const Snapshot& node, std::string_view path) {
    Place place;
    for (auto name = take_name(path); !name.empty(); name = take_name(path)) {
        if (place.file != nullptr) return tl::unexpected(ENOTDIR);
        place.file = find_file(place.level(), name);
        if (place.file != nullptr) continue;
        if (place.level() == Level::node) {
            place.gpu = find_gpu(node, name);
            if (place.gpu == nullptr) return tl::unexpected(ENOENT);
        } else {
            if (place.level() == Level::gpu)
                place.instance = find_instance(node, *place.gpu, name);
            else
                return tl::unexpected(ENOENT);
            if (place.instance == nullptr) return tl::unexpected(ENOENT);
        }
    }
    return place;
}

std::vector<std::string> names_in(const Snapshot& node, const Place& folder) {
    std::vector<std::string> names;
    if (folder.level() == Level::node)
        for (const Gpu& gpu : node.gpus)
            if (gpu.present) names.push_back(std::to_string(gpu.index));
    if (folder.level() == Level::gpu)
        for (const Instance& each : node.instances)
            if (each.on(folder.gpu->uuid) != nullptr) {
                const std::string shortened = each.id.substr(0, kShortId);
                names.push_back(find_instance(node, *folder.gpu, shortened) == &each ? shortened : each.id);
            }
    for (const ControlFile& file : kControlFiles)
        if (file.level == folder.level()) names.emplace_back(file.name);
    return names;
}

namespace {

tl::expected<std::string, int> text_of_instance(File file, const Instance& instance,
                                                const client::OnGpu& on) {
    switch (file) {
        case File::highprio:
            return line(on.quota.high_priority ? 1 : 0);
        case File::id:
            return instance.id + "\n";
        case File::memsize:
            return line(on.quota.memory_limit);
        case File::meminfo:
            return meminfo(on);
        case File::weight:
            return line(on.quota.weight);
        default:
            return tl::unexpected(EIO);
    }
}

}  // namespace

tl::expected<std::string, int> text_of(const Snapshot& node, const Place& place, unsigned major) {
    if (place.file == nullptr) return tl::unexpected(EISDIR);
    if (place.instance != nullptr) {
        const client::OnGpu* on = place.instance->on(place.gpu->uuid);
        return on == nullptr ? tl::unexpected(ENOENT)
                             : text_of_instance(place.file->file, *place.instance, *on);
    }
    switch (place.file->file) {
        case File::default_memsize:
            return line(node.default_memory);
        case File::inst_ctl:
            return tl::unexpected(EBADF);
        case File::upgrade:
            return job_text(node.job);
        case File::version:
            return (node.module_version.empty() ? node.version : node.module_version) + "\n";
        case File::free_weight:
            return line(place.gpu->free_weight);
        case File::major:
            return line(major);
        case File::max_inst:
            return line(place.gpu->max_inst);
        case File::policy:
            return line(place.gpu->policy);
        case File::prio_ratio:
            return line(place.gpu->prio_ratio);
        default:
            return tl::unexpected(EIO);
    }
}

}  // namespace cgpu::fs
