#include "daemon/config/origins.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "core/model/quote.hpp"

namespace cgpu::config {
namespace {

const Entry* last_with(const std::vector<Entry>& entries, const auto& is_meant) {
    const auto found = std::find_if(entries.rbegin(), entries.rend(), is_meant);
    return found == entries.rend() ? nullptr : &*found;
}

std::string text_of(const Entry* entry) { return entry == nullptr ? "built in" : entry->origin.text(); }

/// An index may be written with leading zeros.
bool is_index(const std::string& name, std::uint32_t index) {
    std::uint32_t number = 0;
    const char* const last = name.data() + name.size();
    const auto [end, error] = std::from_chars(name.data(), last, number);
    return error == std::errc{} && end == last && number == index;
}

}  // namespace

std::string origin_of(const std::vector<Entry>& entries, const std::vector<std::string>& path) {
    return text_of(last_with(entries, [&](const Entry& entry) { return entry.path == path; }));
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
        if (entry.path.size() != 3 || entry.path[0] != "gpus" || names_one_of(entry.path[1], gpus) ||
            !named.insert(entry.path[1]).second)
            continue;
        problems.push_back(problem(entry.origin, "gpus." + entry.path[1], "this node has no such GPU",
                                   "name one that it has by its index or UUID: " + all));
    }
    return problems;
}

bool names_one_of(const std::string& name, const std::vector<model::Gpu>& gpus) {
    const auto uuid = model::Uuid::parse(name);
    return std::ranges::any_of(
        gpus, [&](const model::Gpu& gpu) { return uuid ? *uuid == gpu.uuid : is_index(name, gpu.index); });
}

std::string origin_of(const std::vector<Entry>& entries, const model::SeenGpu& gpu, const std::string& key) {
    const auto own = [&](const auto& is_named) {
        return last_with(entries, [&](const Entry& entry) {
            return entry.path.size() == 3 && entry.path[0] == "gpus" && is_named(entry.path[1]) &&
                   entry.path[2] == key;
        });
    };
    const Entry* found = own([&](const std::string& name) {
        const auto uuid = model::Uuid::parse(name);
        return uuid && *uuid == gpu.uuid;
    });
    if (found == nullptr) found = own([&](const std::string& name) { return is_index(name, gpu.index); });
    return found != nullptr ? text_of(found) : origin_of(entries, {key});
}

}  // namespace cgpu::config
