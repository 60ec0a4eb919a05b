#include "daemon/app/escapes.hpp"

#include <algorithm>

#include "daemon/app/log.hpp"

namespace cgpu::app {
namespace {

const char* consequence(OnEscape on_escape) {
    switch (on_escape) {
        case OnEscape::report:
            return "it counts as the instance's";
        case OnEscape::refuse:
            return "nothing more is granted to the instance until it is gone";
        case OnEscape::kill:
            return "the process is killed";
    }
    return "";
}

}  // namespace

void Escapes::seen(const model::Uuid& gpu, const std::vector<Found>& found) {
    std::erase_if(told_, [&](const auto& told) {
        const auto& key = told.first;
        const bool lasts = key.pool.gpu != gpu || std::any_of(found.begin(), found.end(),
                                                              [&](const Found& f) { return f.key == key; });
        if (!lasts)
            log::info("instance {}: process {}: its unexplained memory on {} is gone",
                      key.pool.instance.id.short_id(), key.process.pid, key.pool.gpu.to_string());
        return !lasts;
    });
    for (const auto& each : found) {
        const bool first = told_.emplace(each.key, each.bytes).second;
        if (first) tell(each);
        if (on_escape_ == OnEscape::kill) kill(each, first);
    }
}

void Escapes::tell(const Found& found) const {
    log::warn("instance {}: process {}: holds {} bytes on {} that the module can't explain; {}",
              found.key.pool.instance.id.short_id(), found.key.process.pid, found.bytes,
              found.key.pool.gpu.to_string(), consequence(on_escape_));
}

void Escapes::kill(const Found& found, bool first) {
    const auto killed = processes_.kill(found.key.process);
    if (!killed && first)
        log::error("instance {}: {}", found.key.pool.instance.id.short_id(), killed.error().text);
}

}  // namespace cgpu::app
