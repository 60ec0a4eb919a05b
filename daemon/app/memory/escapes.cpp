#include "daemon/app/memory/escapes.hpp"

#include <algorithm>
#include <utility>

#include "core/model/size.hpp"
#include "daemon/app/ports/log.hpp"

namespace cgpu::app {
namespace {

// The kinds of escapes, as events have them.
constexpr const char* kMemory = "memory";
constexpr const char* kOutside = "outside";
constexpr const char* kDescriptors = "descriptors";

/// Memory that was opened from another process may be counted twice, and a context may be larger than was
/// expected, so these are only reported.
bool is_killed_for(const Escapes::Found& found) { return found.outside || (!found.shared && !found.context); }

const char* consequence(OnEscape on_escape, const Escapes::Found& found) {
    if (on_escape != OnEscape::report && found.context && !found.outside)
        return "it may be a context, whose size on this GPU isn't known yet, so nothing is done about it (is "
               "context_estimate_mib too small?); it counts as the instance's";
    if (on_escape == OnEscape::kill && !is_killed_for(found))
        return "it may be memory of another process that this one has opened, so it is not killed; "
               "nothing more is granted to the instance until it is gone";
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
        const auto same = [&](const Found& each) { return each.key == key; };
        const bool lasts = key.pool.gpu != gpu || std::any_of(found.begin(), found.end(), same);
        if (!lasts) tell_gone(key, told.second);
        return !lasts;
    });
    for (const auto& each : found) {
        const auto [place, first] = told_.emplace(each.key, Told{});
        Told& told = place->second;
        if (each.outside && !std::exchange(told.outside, true)) tell_outside(each);
        const bool kills = on_escape_ == OnEscape::kill && is_killed_for(each);
        // Again where it was said not to be killed.
        const bool kills_after_all = kills && !told.kills;
        told.kills = kills;
        if (each.bytes > 0 && (!std::exchange(told.bytes, true) || kills_after_all)) tell_bytes(each);
        if (kills) kill(each, first);
    }
}

void Escapes::kept(const model::Uuid& gpu, const std::vector<KeptFound>& found) {
    std::erase_if(told_kept_, [&](const PoolKey& pool) {
        const auto same = [&](const KeptFound& each) { return each.pool == pool; };
        if (pool.gpu != gpu || std::any_of(found.begin(), found.end(), same)) return false;
        auto event = event_of(EventType::escape_ended, log::Level::info, pool,
                              "the memory on " + gpu.to_string() + " that only descriptors kept is free");
        event.details["kind"] = std::string(kDescriptors);
        events_.happened(std::move(event));
        return true;
    });
    for (const auto& each : found) {
        if (!told_kept_.insert(each.pool).second) continue;
        auto event =
            event_of(EventType::escape_found, log::Level::warn, each.pool,
                     model::format_mib(model::Bytes(each.bytes)) + " on " + gpu.to_string() +
                         " that its processes exported and freed are kept by descriptors; they count as "
                         "the instance's until those are closed");
        event.details["kind"] = std::string(kDescriptors);
        event.details["unexplained"] = each.bytes;
        events_.happened(std::move(event));
    }
}

Event Escapes::event_of(EventType type, log::Level level, const PoolKey& pool, const std::string& what) {
    Event event{.type = type, .level = level};
    event.message = "instance " + pool.instance.id.short_id() + ": " + what;
    event.instance = pool.instance.id;
    event.gpu = pool.gpu;
    return event;
}

Event Escapes::event_of(EventType type, log::Level level, const LeaseKey& key, const std::string& what) {
    auto event = event_of(type, level, key.pool, "process " + std::to_string(key.process.pid) + ": " + what);
    event.process = key.process.pid;
    return event;
}

void Escapes::tell_gone(const LeaseKey& key, const Told& told) const {
    const auto gpu = key.pool.gpu.to_string();
    const auto tell = [&](const std::string& what, const char* kind) {
        auto event = event_of(EventType::escape_ended, log::Level::info, key, what);
        event.details["kind"] = std::string(kind);
        events_.happened(std::move(event));
    };
    if (told.bytes) tell("its unexplained memory on " + gpu + " is gone", kMemory);
    if (told.outside) tell("it is not outside the module on " + gpu + " any more", kOutside);
}

void Escapes::tell_outside(const Found& found) const {
    auto event = event_of(
        EventType::escape_found, log::Level::warn, found.key,
        "uses " + found.key.pool.gpu.to_string() + (found.foreign ? ", which isn't the instance's," : "") +
            " outside the module, so its compute passes the gate unseen; " + consequence(on_escape_, found));
    event.details["kind"] = std::string(kOutside);
    events_.happened(std::move(event));
}

void Escapes::tell_bytes(const Found& found) const {
    auto event = event_of(EventType::escape_found, log::Level::warn, found.key,
                          "holds " + model::format_mib(model::Bytes(found.bytes)) + " on " +
                              found.key.pool.gpu.to_string() + " that the module can't explain; " +
                              consequence(on_escape_, found));
    event.details["kind"] = std::string(kMemory);
    event.details["unexplained"] = found.bytes;
    events_.happened(std::move(event));
}

void Escapes::kill(const Found& found, bool first) {
    auto killed = processes_.signal(found.key.process, Signal::kill);
    if (killed || !first) return;
    model::also_try(killed.error(), "set on_escape: refuse");
    log::error(events_.about(found.key.pool.instance.id), "instance {}: {}",
               found.key.pool.instance.id.short_id(), killed.error().text);
}

}  // namespace cgpu::app
