#include "daemon/config/origins.hpp"

#include <algorithm>
#include <charconv>

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
