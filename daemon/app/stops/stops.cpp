#include "daemon/app/stops/stops.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "daemon/app/ports/log.hpp"

namespace cgpu::app {
namespace {

using model::Refusal;

/// Others of the instance may come after those that were killed.
constexpr Nanos kBetweenKills = kSecond / 2;

std::string stop_of(const model::Instance& instance) { return "stop of " + model::describe(instance); }

/// Of an end by the node's rules. What root has put in, as the containers of its engine, ends as a whole; of
/// others' instances, only what runs for the owner.
bool only_owners(const model::Instance& instance) { return instance.creator != 0U; }

}  // namespace

Result<void> Stops::possible(const model::Instance& instance) const {
    if (outside_.processes.may_signal_others()) return {};
    return model::refuse(Refusal::Reason::unsupported, stop_of(instance),
                         "cgpud may not signal other users' processes here",
                         "give cgpud CAP_KILL by kill.conf, see cgpud(8), or end them as root");
}

std::vector<model::Process> Stops::processes_of(const model::Instance& instance) const {
    std::vector<model::Process> all;
    std::set<std::int32_t> known;
    const auto add = [&](const model::Process& process) {
        if (known.insert(process.pid).second && outside_.processes.alive(process)) all.push_back(process);
    };
    if (instance.attached) add(*instance.attached);
    auto gpus = outside_.usage.foreign_gpus(instance.id);
    for (const model::Quota& quota : instance.quotas) gpus.push_back(quota.gpu);
    for (const model::Uuid& gpu : gpus)
        for (const model::Process& process : outside_.usage.members(instance.id, gpu)) add(process);
    return all;
}

bool Stops::may_reach(const model::Instance& instance, const model::Process& process,
                      bool only_owners) const {
    return !only_owners || !instance.owner.user || outside_.processes.runs_for(process, *instance.owner.user);
}

Result<std::vector<std::uint32_t>> Stops::stop(const model::InstanceId& id, const StopHow& how) {
    const model::Instance* instance = outside_.find(id);
    if (instance == nullptr)
        return model::refuse(Refusal::Reason::not_found, "instance " + id.short_id(), "it is gone",
                             "cgpuctl list shows those that are there");
    if (const auto can = possible(*instance); !can) return tl::unexpected(can.error());
    const auto processes = processes_of(*instance);
    if (processes.empty())
        return model::refuse(Refusal::Reason::busy, stop_of(*instance), "no process of it is known yet",
                             "wait until it runs");
    for (const model::Process& process : processes)
        if (!may_reach(*instance, process, how.only_owners) && outside_.processes.alive(process))
            return model::refuse(Refusal::Reason::not_permitted, stop_of(*instance),
                                 "its process " + std::to_string(process.pid) + " doesn't run as its owner",
                                 "do the same as root (sudo)");
    std::vector<std::uint32_t> pids;
    for (const model::Process& process : processes) {
        if (!how.dry_run)
            if (auto sent = outside_.processes.signal(process, Signal::term); !sent)
                return tl::unexpected(sent.error());
        pids.push_back(static_cast<std::uint32_t>(process.pid));
    }
    if (how.dry_run) return pids;
    const auto now = outside_.loop.now();
    const auto kill_at = kill_from(*instance, now + how.grace, how.only_owners);
    log::info(log::about(*instance), "{}: {} of its processes got SIGTERM, and get SIGKILL after {} s",
              model::describe(*instance), pids.size(), (kill_at - now) / kSecond);
    return pids;
}

Nanos Stops::kill_from(const model::Instance& instance, Nanos when, bool only_owners) {
    const auto before = stopping_.find(instance.id);
    if (before != stopping_.end() && before->second.generation == instance.generation) {
        when = std::min(when, before->second.kill_at);
        only_owners = only_owners && before->second.only_owners;
    }
    stopping_[instance.id] = {instance.generation, when, only_owners,
                              outside_.loop.at(when, [this, id = instance.id] { kill(id); })};
    return when;
}

Result<void> Stops::ask(const model::InstanceId& id) {
    const model::Instance* instance = outside_.find(id);
    if (instance == nullptr) return {};
    if (auto can = possible(*instance); !can) return can;
    for (const model::Process& process : processes_of(*instance))
        if (may_reach(*instance, process, only_owners(*instance)))
            if (auto sent = outside_.processes.signal(process, Signal::term); !sent) return sent;
    return {};
}

Result<void> Stops::kill_all(const model::InstanceId& id) {
    const model::Instance* instance = outside_.find(id);
    if (instance == nullptr) return {};
    if (auto can = possible(*instance); !can) return can;
    kill_from(*instance, outside_.loop.now(), only_owners(*instance));
    return {};
}

void Stops::kill(const model::InstanceId& id) {
    const auto found = stopping_.find(id);
    if (found == stopping_.end()) return;
    Stopping& stopping = found->second;
    const model::Instance* instance = outside_.find(id);
    const Nanos now = outside_.loop.now();
    if (instance == nullptr || instance->generation != stopping.generation ||
        now >= stopping.kill_at + kKillingTakes) {
        stopping_.erase(found);
        return;
    }
    for (const model::Process& process : processes_of(*instance)) {
        if (!may_reach(*instance, process, stopping.only_owners)) continue;
        if (const auto sent = outside_.processes.signal(process, Signal::kill); !sent)
            log::info(log::about(*instance, process.pid), "{}: {}", model::describe(*instance),
                      sent.error().text);
    }
    stopping.next = outside_.loop.at(now + kBetweenKills, [this, id] { kill(id); });
}

}  // namespace cgpu::app
