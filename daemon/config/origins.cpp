#include "daemon/config/origins.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>

#include "core/model/quote.hpp"
#include "daemon/config/gpu_name.hpp"

namespace cgpu::config {
namespace {

std::string text_of(const Entry* entry) { return entry == nullptr ? "built in" : entry->origin.text(); }

bool is_of_gpu(const Entry& entry) { return entry.path.size() == 3 && entry.path[0] == "gpus"; }

template <typename Key>
const Entry* found_in(const std::map<Key, const Entry*>& entries, const Key& key) {
    const auto found = entries.find(key);
    return found == entries.end() ? nullptr : found->second;
}

}  // namespace

Origins::Origins(const std::vector<Entry>& entries) {
    by_path_.reserve(entries.size());
    for (const Entry& entry : entries) {
        by_path_.push_back(&entry);
        if (!is_of_gpu(entry)) continue;
        const auto name = parse_gpu_name(entry.path[1]);
        if (!name) continue;
        if (const auto* uuid = std::get_if<model::Uuid>(&*name))
            by_uuid_[{*uuid, entry.path[2]}] = &entry;
        else
            by_index_[{std::get<std::uint32_t>(*name), entry.path[2]}] = &entry;
    }
    std::ranges::stable_sort(by_path_, {}, &Entry::path);
}

std::string Origins::of(const std::vector<std::string>& path) const {
    const auto after = std::ranges::upper_bound(by_path_, path, {}, &Entry::path);
    if (after == by_path_.begin() || (*std::prev(after))->path != path) return text_of(nullptr);
    return text_of(*std::prev(after));
}

std::string Origins::of(const model::SeenGpu& gpu, const std::string& key) const {
    const Entry* own = found_in(by_uuid_, {gpu.uuid, key});
    if (own == nullptr) own = found_in(by_index_, {gpu.index, key});
    return own != nullptr ? text_of(own) : of({key});
}

tl::expected<std::vector<model::Gpu>, std::string> read_gpus(const std::vector<std::string>& words) {
    std::vector<model::Gpu> gpus;
    for (const std::string& word : words) {
        const auto equals = word.find('=');
        const auto uuid = model::Uuid::parse(equals == std::string::npos ? "" : word.substr(equals + 1));
        std::uint32_t index = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), index);
        if (!uuid || error != std::errc{} || end != word.data() + equals)
            return tl::unexpected(model::quote(word) + " is not of the form INDEX=UUID");
        gpus.emplace_back().uuid = *uuid;
        gpus.back().index = index;
    }
    return gpus;
}

Problems unknown_gpus(const std::vector<Entry>& entries, const std::vector<model::Gpu>& gpus) {
    Problems problems;
    if (gpus.empty()) return problems;
    std::set<std::string> named;
    std::string all;
    for (const model::Gpu& gpu : gpus) all += (all.empty() ? "" : ", ") + std::to_string(gpu.index);
    for (const Entry& entry : entries) {
        if (!is_of_gpu(entry) || names_one_of(entry.path[1], gpus) || !named.insert(entry.path[1]).second)
            continue;
        problems.push_back(problem(entry.origin, "gpus." + entry.path[1], "this node has no such GPU",
                                   "name one that it has by its index or UUID: " + all));
    }
    return problems;
}

bool names_one_of(const std::string& name, const std::vector<model::Gpu>& gpus) {
    const auto wanted = parse_gpu_name(name);
    return wanted && std::ranges::any_of(gpus, [&](const model::Gpu& gpu) {
               return *wanted == GpuName(gpu.uuid) || *wanted == GpuName(gpu.index);
           });
}

}  // namespace cgpu::config
