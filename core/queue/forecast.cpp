#include "core/queue/forecast.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace cgpu::queue {
namespace {

Room room_of(const model::Quota& quota, model::Mode mode) {
    Room room{quota.memory_limit, quota.weight, 1, static_cast<std::uint16_t>(quota.exclusive ? 1 : 0), {}};
    room.of_mode.at(static_cast<std::size_t>(mode)) = 1;
    return room;
}

template <class Number>
void change(Number& number, Number by, bool more) {
    number = static_cast<Number>(more ? number + by : number - by);
}

void put(Room& room, const Room& part, bool more) {
    room.memory = more ? room.memory + part.memory : room.memory - part.memory;
    change(room.weight, part.weight, more);
    change(room.instances, part.instances, more);
    change(room.exclusive, part.exclusive, more);
    for (std::size_t mode = 0; mode < room.of_mode.size(); ++mode)
        change(room.of_mode.at(mode), part.of_mode.at(mode), more);
}

model::Mode mode_of(const Room& room) {
    const auto first = std::ranges::find_if(room.of_mode, [](std::uint16_t number) { return number > 0; });
    return static_cast<model::Mode>(first - room.of_mode.begin());
}

}  // namespace

Forecast::Forecast(const model::Node& node, const Ends& ends, Nanos now)
    : gpus_(node.gpus()), moments_{now}, rooms_(node.gpus().size()) {
    for (const model::Gpu& gpu : gpus_) unmanaged_.push_back(node.held_unmanaged(gpu.uuid));
    for (const auto& [id, instance] : node.instances()) {
        const auto end = ends.find(id);
        for (const model::Quota& quota : instance.quotas) {
            const auto gpu = place_of(quota.gpu);
            if (!gpu) continue;
            const Room part = room_of(quota, instance.mode);
            put(rooms_[*gpu], part, true);
            // One that is past its end is still there, and about to go.
            if (end != ends.end()) limited_.push_back({std::max(end->second, now + 1), *gpu, part});
        }
    }
    std::ranges::stable_sort(limited_, {}, &Limited::until);
    rooms_.reserve((limited_.size() + 1) * gpus_.size());
    for (const Limited& each : limited_) {
        if (moments_.back() != each.until) {
            moments_.push_back(each.until);
            for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu)
                rooms_.push_back(rooms_[rooms_.size() - gpus_.size()]);
        }
        put(rooms_[rooms_.size() - gpus_.size() + each.gpu], each.room, false);
    }
}

std::optional<std::size_t> Forecast::place_of(const model::Uuid& gpu) const {
    for (std::size_t place = 0; place < gpus_.size(); ++place)
        if (gpus_[place].uuid == gpu) return place;
    return std::nullopt;
}

std::size_t Forecast::moment_of(Nanos at) const {
    const auto after = std::ranges::upper_bound(moments_, at);
    return after == moments_.begin() ? 0 : static_cast<std::size_t>(after - moments_.begin()) - 1;
}

std::size_t Forecast::make_moment(Nanos at) {
    const std::size_t before = moment_of(at);
    if (moments_[before] >= at) return before;
    const auto first = rooms_.begin() + static_cast<std::ptrdiff_t>(before * gpus_.size());
    const std::vector<Room> rooms(first, first + static_cast<std::ptrdiff_t>(gpus_.size()));
    moments_.insert(moments_.begin() + static_cast<std::ptrdiff_t>(before) + 1, at);
    rooms_.insert(first + static_cast<std::ptrdiff_t>(gpus_.size()), rooms.begin(), rooms.end());
    return before + 1;
}

void Forecast::add(const Placed& placed) {
    const std::size_t begin = make_moment(placed.from);
    const std::size_t end = placed.until == kNever ? moments_.size() : make_moment(placed.until);
    const bool is_there = placed.from <= moments_.front();
    for (const model::Quota& quota : placed.quotas) {
        const auto gpu = place_of(quota.gpu);
        if (!gpu) continue;
        const Room part = room_of(quota, placed.mode);
        for (std::size_t moment = begin; moment < end; ++moment)
            put(rooms_[moment * gpus_.size() + *gpu], part, true);
        if (is_there && placed.until != kNever)
            limited_.insert(std::ranges::upper_bound(limited_, placed.until, {}, &Limited::until),
                            {placed.until, *gpu, part});
    }
    if (!is_there) begins_.insert(std::ranges::upper_bound(begins_, placed.from), placed.from);
}

std::vector<std::size_t> Forecast::begins_between(Nanos from, Nanos until) const {
    std::vector<std::size_t> found;
    for (const Nanos begin : begins_)
        if (begin > from && begin < until && (found.empty() || at(found.back()) != begin))
            found.push_back(moment_of(begin));
    return found;
}

bool Forecast::could_take(const Room& room, std::size_t gpu, const Needs& needs, model::Bytes free) const {
    const auto& need = needs.on[gpu];
    if (!need || room.exclusive > 0 || room.instances >= gpus_[gpu].settings.max_inst) return false;
    if (free < need->memory || (need->whole && room.instances > 0)) return false;
    return !needs.mode || room.of_mode.at(static_cast<std::size_t>(*needs.mode)) == room.instances;
}

bool Forecast::has_room(const Needs& needs, std::size_t moment) const {
    std::size_t fitting = 0;
    for (std::size_t gpu = 0; gpu < gpus_.size() && fitting < needs.count; ++gpu)
        if (could_take(moment, gpu, needs)) ++fitting;
    return fitting >= needs.count;
}

GpuSet Forecast::room_for(const Needs& needs, std::size_t moment, Nanos until) const {
    GpuSet gpus(gpus_.size(), true);
    // Between these moments the room only grows.
    auto moments = begins_between(at(moment), until);
    moments.push_back(moment);
    for (const std::size_t then : moments)
        for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu)
            gpus[gpu] = gpus[gpu] && could_take(then, gpu, needs);
    return gpus;
}

Nanos Forecast::not_before(const Needs& needs) const {
    std::vector<Room> rooms(gpus_.size());
    for (const Limited& each : limited_) put(rooms[each.gpu], each.room, true);
    const auto fits = [&] {
        std::size_t fitting = 0;
        for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu)
            // What unmanaged containers hold may become free at any time, too.
            if (could_take(rooms[gpu], gpu, needs, gpus_[gpu].total - rooms[gpu].memory)) ++fitting;
        return fitting >= needs.count;
    };
    Nanos at = moments_.front();
    for (auto each = limited_.begin(); !fits() && each != limited_.end();)
        for (at = each->until; each != limited_.end() && each->until == at; ++each)
            put(rooms[each->gpu], each->room, false);
    return at;
}

model::Node Forecast::node_at(std::size_t moment, const GpuSet& gpus) const {
    auto all = gpus_;
    std::vector<model::Instance> there;
    for (std::size_t gpu = 0; gpu < all.size(); ++gpu) {
        if (!gpus[gpu]) all[gpu].drained = true;
        const Room& room = room_at(moment, gpu);
        if (!gpus[gpu] || room.instances == 0) continue;
        const model::Quota quota{all[gpu].uuid, room.memory, room.weight, false, room.exclusive > 0};
        const auto id = model::InstanceId::parse(std::to_string(gpu));
        there.push_back({*id, "", 0, 0, mode_of(room), {quota}, std::nullopt});
    }
    // None of this is refused: what is there was admitted, and what is to come has been placed by admission.
    auto node = model::Node::restore(0, std::move(all), std::move(there)).value_or(model::Node());
    std::map<model::Uuid, model::Bytes> held;
    for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu)
        if (unmanaged_[gpu] > model::Bytes{}) held[gpus_[gpu].uuid] = unmanaged_[gpu];
    node.set_held_unmanaged(std::move(held));
    return node;
}

}  // namespace cgpu::queue
