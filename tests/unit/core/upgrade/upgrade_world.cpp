#include "tests/unit/core/upgrade/upgrade_world.hpp"

#include <utility>

namespace cgpu::upgrade::test {

Who World::who(std::int32_t pid) { return {*model::InstanceId::parse("web"), {pid, 7, "boot"}}; }

void World::boot() {
    flow_.emplace(disk, kOld);
    booted = now;
    for (auto& [pid, process] : processes) {
        process.connected = false;
        if (process.alive) (void)flow_->step(Known{who(pid)}, now);
    }
    (void)flow_->step(Instances{instances}, now);
    killed_ = false;
    actions_left_ = -1;
    happens(Resume{"boot" + std::to_string(boots_)});
}

void World::restart(bool reboot) {
    if (reboot) {
        ++boots_;
        processes.clear();
        instances = 0;
    }
    boot();
}

void World::kill_after(int actions) {
    actions_left_ = actions;
    killed_ = actions == 0;
    if (killed_) restart();
}

void World::happens(const Event& event) {
    std::deque<Event> next{event};
    while (!next.empty()) {
        const auto happened = next.front();
        next.pop_front();
        for (const auto& action : flow_->step(happened, now)) {
            if (actions_left_ == 0) {
                restart();
                return;
            }
            if (actions_left_ > 0) --actions_left_;
            carry_out(action, next);
        }
    }
}

void World::carry_out(const Action& action, std::deque<Event>& next) {
    if (const auto* save = std::get_if<Save>(&action)) {
        if (!disk_full) disk = save->record;
        if (save->configured_modes_first) ++configured_modes;
        next.emplace_back(Saved{disk_full ? "The disk is full." : ""});
    } else if (const auto* verify = std::get_if<Verify>(&action)) {
        if (file_bad)
            next.emplace_back(Verified{tl::unexpected(std::string("The sum is wrong."))});
        else
            next.emplace_back(Verified{manifest_of(verify->version, kOld)});
    } else if (const auto* order = std::get_if<Switch>(&action)) {
        auto& process = processes.at(order->who.process.pid);
        if (process.alive && process.connected && process.front == order->front)
            process.told.push_back(*order);
    } else if (const auto* ended = std::get_if<Over>(&action)) {
        over.push_back(ended->ended);
    } else if (const auto* line = std::get_if<Tell>(&action)) {
        log.push_back(line->text);
    }
}

std::int32_t World::start(Mood mood) {
    const auto pid = ++last_pid_;
    auto& process = processes[pid];
    process.mood = mood;
    process.runs = flow_->for_new();
    connect(pid);
    return pid;
}

void World::connect(std::int32_t pid) {
    auto& process = processes.at(pid);
    process.connected = true;
    process.front = ++last_front_;
    happens(Connected{who(pid), process.front, process.front_version});
    if (process.connected) say(pid, 0, wire::SwitchResult::running);
}

void World::say(std::int32_t pid, std::uint64_t request, wire::SwitchResult result) {
    const auto& process = processes.at(pid);
    happens(Said{who(pid), process.front, request, result, process.runs, ""});
}

void World::end(std::int32_t pid) {
    auto& process = processes.at(pid);
    if (!process.alive) return;
    process.alive = false;
    if (process.connected) happens(Lost{who(pid), process.front});
    happens(Gone{who(pid)});
}

void World::act(std::int32_t pid) {
    auto& process = processes.at(pid);
    if (!process.alive || process.stopped) return;
    if (process.under_way) carry_out_order(pid, *std::exchange(process.under_way, std::nullopt));
    // Messages that a killed daemon had written are still read.
    if (!process.told.empty()) process.under_way = process.told.back();
    process.told.clear();
    if (process.alive && !process.connected) connect(pid);
}

void World::carry_out_order(std::int32_t pid, const Switch& order) {
    auto& process = processes.at(pid);
    auto result = wire::SwitchResult::done;
    const bool back = order.to == kOld;
    if (process.mood == Mood::dies) return end(pid);
    if (process.runs != order.to) {
        if (process.mood == Mood::busy) result = wire::SwitchResult::busy;
        if (process.mood == (back ? Mood::fails_back : Mood::fails)) result = wire::SwitchResult::self_check;
    }
    if (result == wire::SwitchResult::done) process.runs = order.to;
    // On the present connection, whichever daemon sent the order.
    if (process.connected) say(pid, order.request, result);
}

bool World::upgrade(Kind kind, const Version& to, Nanos timeout) {
    if (flow_->under_way()) return false;
    happens(Start{kind, manifest_of(to, kOld), timeout, "boot" + std::to_string(boots_)});
    return true;
}

bool World::switch_mode(model::Mode to, Nanos timeout, bool configured, bool until_reboot) {
    if (flow_->under_way()) return false;
    const auto from = flow_->mode().value_or(model::Mode::memory_compute);
    happens(StartMode{from, to, timeout, "boot" + std::to_string(boots_), configured, until_reboot});
    return true;
}

void World::set_instances(std::size_t count) {
    if (count > instances && flow_->draining()) return;  // refused
    instances = count;
    if (count == 0)
        for (auto& [pid, process] : processes) end(pid);
    happens(Instances{count});
}

void World::run(Nanos duration, Nanos step) {
    const auto end = now + duration;
    while (now < end) {
        now += step;
        std::vector<std::int32_t> pids;
        for (const auto& [pid, process] : processes) pids.push_back(pid);
        for (const auto pid : pids) act(pid);
        if (const auto wake = flow_->wake(now - step); wake && *wake <= now) happens(Tick{});
    }
}

std::set<Version> World::running() const {
    std::set<Version> found;
    for (const auto& [pid, process] : processes)
        if (process.alive) found.insert(process.runs);
    return found;
}

bool World::all_good() const {
    for (const auto& [pid, process] : processes)
        if (process.alive && (process.stopped || process.mood != Mood::good)) return false;
    return true;
}

}  // namespace cgpu::upgrade::test
