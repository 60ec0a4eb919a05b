#include "daemon/app/instances/unmanaged_containers.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/model/quote.hpp"
#include "daemon/app/ports/log.hpp"

namespace cgpu::app {
namespace {

using model::Refusal;

constexpr Nanos kLookEvery = 2 * kSecond;
/// More than any card has: the driver writes such a figure where it has none.
constexpr std::uint64_t kImplausible = std::uint64_t{1} << 50;

std::string describe(const model::InstanceId& id, std::string_view name) {
    return "container " + id.short_id() + (name.empty() ? "" : " (" + model::quote(name) + ")");
}

model::Bytes whole_mib(std::uint64_t bytes) {
    return model::Bytes::from_mib((bytes + model::Bytes::kPerMib - 1) / model::Bytes::kPerMib);
}

/// The driver shows a process once for each of its lists, with the same figure.
std::map<std::int32_t, std::uint64_t> by_pid(const std::vector<DriverProcess>& figures) {
    std::map<std::int32_t, std::uint64_t> bytes;
    for (const auto& figure : figures)
        if (figure.bytes < kImplausible) bytes[figure.pid] = std::max(bytes[figure.pid], figure.bytes);
    return bytes;
}

}  // namespace

Result<bool> UnmanagedContainers::admit(std::string_view id, std::string_view name,
                                        const std::vector<std::string>& gpus, const Caller& caller,
                                        Options options) {
    auto admitted = try_to_admit(id, name, gpus, caller, options);
    if (!admitted && !options.dry_run)
        outside_.service.admission_refused(id, name, caller, owner_of_new(caller, {}, ""), admitted.error());
    return admitted;
}

Result<bool> UnmanagedContainers::try_to_admit(std::string_view id, std::string_view name,
                                               const std::vector<std::string>& gpus, const Caller& caller,
                                               Options options) {
    const auto parsed = model::InstanceId::parse(id);
    if (!parsed)
        return model::refuse(Refusal::Reason::invalid, "container id", parsed.error(),
                             "use the container's id");
    if (const auto fits = check_name(*parsed, name); !fits) return tl::unexpected(fits.error());
    const std::string what = describe(*parsed, name);
    if (rule_ == admission::Unmanaged::refuse) return tl::unexpected(admission::refuse_unmanaged(what));
    if (const auto known = all_.find(*parsed);
        known != all_.end() && caller.user != 0 && caller.user != known->second.owner)
        return model::refuse(Refusal::Reason::exists, what, "it is another user's", "use the container's id");
    if (auto full = check_space(*parsed, what, caller); !full) return tl::unexpected(std::move(full.error()));
    if (!outside_.processes.alive(caller.process))
        return model::refuse(Refusal::Reason::not_found, what, "the process that asked for it has ended",
                             "try the same again");
    UnmanagedContainer container{*parsed, std::string(name), outside_.wall_clock(), {}, false, caller.user,
                                 {}};
    for (const std::string& gpu : gpus) {
        const auto found = outside_.service.find_gpu(gpu);
        if (!found) return tl::unexpected(found.error());
        container.gpus.push_back(*found);
    }
    if (rule_ == admission::Unmanaged::whole) {
        const auto quotas = admission::book_whole(outside_.service.node(), what, container.gpus);
        if (!quotas) return tl::unexpected(outside_.service.worth_another_try(quotas.error()));
        model::Instance wanted{*parsed, container.name, 0,          container.created, model::Mode::none,
                               *quotas, std::nullopt,   caller.user};
        if (caller.user != 0) wanted.owner.user = caller.user;
        const auto booked = outside_.service.put_in(std::move(wanted), {}, caller, options);
        if (!booked) return tl::unexpected(booked.error());
        container.whole = true;
    }
    if (options.dry_run) return container.whole;
    const bool whole = container.whole;
    all_.insert_or_assign(*parsed, std::move(container));
    watch_end(*parsed, caller.process);
    Event event{.type = EventType::container_unmanaged};
    event.message = what + ": it has GPUs and asks for no part of one, so it has no limit (unmanaged: " +
                    std::string(admission::to_string(rule_)) + ")";
    event.instance = *parsed;
    event.name = name;
    event.by = Who{caller.user, caller.process.pid};
    admitted_.happened(caller.user, std::move(event));
    outside_.publisher.unmanaged_changed();
    return whole;
}

Result<void> UnmanagedContainers::check_space(const model::InstanceId& id, const std::string& what,
                                              const Caller& caller) const {
    if (all_.contains(id)) return {};
    const auto own = std::count_if(all_.begin(), all_.end(),
                                   [&](const auto& entry) { return entry.second.owner == caller.user; });
    if (all_.size() < kMost && (caller.user == 0 || own < kMostOfAUser)) return {};
    return model::refuse(
        Refusal::Reason::no_space, what,
        all_.size() < kMost
            ? "cgpud knows " + std::to_string(kMostOfAUser) + " such containers of this user already"
            : "cgpud knows " + std::to_string(kMost) + " such containers already",
        "end some of them");
}

UnmanagedContainers::All::const_iterator UnmanagedContainers::find(std::string_view id) const {
    const auto parsed = model::InstanceId::parse(id);
    return parsed ? all_.find(*parsed) : all_.end();
}

bool UnmanagedContainers::has(std::string_view id) const {
    const auto found = find(id);
    return found != all_.end() && !found->second.whole;
}

bool UnmanagedContainers::may_withdraw(std::string_view id, const Caller& caller) const {
    const auto found = find(id);
    return found == all_.end() || (found->second.owner == caller.user && !found->second.attached);
}

Result<void> UnmanagedContainers::release(std::string_view id, const Caller& caller, Options options) {
    const auto found = find(id);
    if (found == all_.end()) return {};
    if (caller.own_only && !may_withdraw(id, caller))
        return model::refuse(Refusal::Reason::not_permitted, describe(found->first, found->second.name),
                             "its processes would go on, and their memory count as free",
                             "end its processes");
    if (!options.dry_run) end(found->first);
    return {};
}

bool UnmanagedContainers::attach(std::string_view id, const model::Process& process, const Caller& caller) {
    const auto parsed = model::InstanceId::parse(id);
    if (!parsed) return false;
    const auto found = all_.find(*parsed);
    if (found == all_.end() || (caller.user != 0 && caller.user != found->second.owner)) return false;
    if (!may_attach(outside_.processes, process, caller)) return false;
    if (found->second.attached == process) return true;
    found->second.attached = process;
    watch_end(*parsed, process);
    outside_.publisher.unmanaged_changed();
    if (!next_look_) look();
    return true;
}

void UnmanagedContainers::watch_end(const model::InstanceId& id, const model::Process& process) {
    ends_[id] = outside_.processes.on_exit(process, [this, id] { end(id); });
}

void UnmanagedContainers::end(const model::InstanceId& ended) {
    // `ended` may belong to the watch that calls, which is removed below.
    const auto gone = all_.extract(ended);
    if (gone.empty()) return;
    log::debug("{}: gone", describe(gone.key(), gone.mapped().name));
    ends_.erase(gone.key());
    tell_service();
    outside_.publisher.unmanaged_changed();
}

void UnmanagedContainers::look_now(const std::function<void()>& done) {
    if (all_.empty())
        done();
    else
        ask(done);
}

/// `done` is called when the last answer is there.
void UnmanagedContainers::ask(std::function<void()> done) {
    const std::shared_ptr<void> last(nullptr, [done = std::move(done)](void*) { done(); });
    for (const model::Gpu& gpu : outside_.service.node().gpus()) {
        if (!gpu.present) continue;
        outside_.gpus.processes(
            gpu.uuid, [this, uuid = gpu.uuid, last, alive = std::weak_ptr(alive_)](const auto& figures) {
                if (!alive.expired() && figures) seen(uuid, figures->processes);
            });
    }
}

void UnmanagedContainers::look() {
    next_look_.reset();
    const bool any = std::any_of(all_.begin(), all_.end(),
                                 [](const auto& entry) { return entry.second.attached.has_value(); });
    if (!any) return;
    ask([] {});
    next_look_ = outside_.loop.at(outside_.loop.now() + kLookEvery, [this] { look(); });
}

const UnmanagedContainer* UnmanagedContainers::holder_of(const model::Process& process) const {
    const auto look = outside_.processes.look_at(process);
    // The larger, the better the claim.
    using Claim = std::tuple<bool, bool, int, std::uint64_t>;
    const UnmanagedContainer* holder = nullptr;
    Claim best;
    for (const auto& [id, container] : all_) {
        if (!container.attached) continue;
        // A process that `docker exec` starts descends from no other process of the container.
        int nearness = 0;
        if (process == *container.attached)
            nearness = 3;
        else if (look &&
                 look->is_in_cgroup(outside_.processes.cgroup_made_for(*container.attached, id.str())))
            nearness = 2;
        else if (look && look->descends(*container.attached))
            nearness = 1;
        if (nearness == 0) continue;
        // What books its GPUs has counted it. Root names processes of others, in its engines' containers; of
        // containers in a container the inner one is the newer.
        const Claim claim{container.whole, container.owner == 0, nearness, container.created};
        if (holder != nullptr && claim <= best) continue;
        holder = &container;
        best = claim;
    }
    if (holder == nullptr || holder->whole) return holder;
    return outside_.links.has_member(process.pid) ? nullptr : holder;
}

void UnmanagedContainers::seen(const model::Uuid& gpu, const std::vector<DriverProcess>& figures) {
    std::map<model::InstanceId, std::uint64_t> held;
    for (const auto& [pid, bytes] : by_pid(figures)) {
        const auto process = outside_.processes.identify(pid);
        if (!process || bytes == 0) continue;
        if (const auto* holder = holder_of(*process)) held[holder->id] += bytes;
    }
    bool changed = false;
    for (auto& [id, container] : all_) {
        const auto now = held.find(id);
        const std::uint64_t bytes = now == held.end() ? 0 : now->second;
        const auto before = container.held.find(gpu);
        if ((before == container.held.end() ? 0 : before->second) == bytes) continue;
        changed = true;
        if (bytes == 0)
            container.held.erase(gpu);
        else
            container.held[gpu] = bytes;
    }
    if (!changed) return;
    tell_service();
    outside_.publisher.unmanaged_changed();
}

/// What a booking container holds is part of what it books.
void UnmanagedContainers::tell_service() {
    std::map<model::Uuid, std::uint64_t> sums;
    for (const auto& [id, container] : all_)
        if (!container.whole)
            for (const auto& [gpu, bytes] : container.held) sums[gpu] += bytes;
    std::map<model::Uuid, model::Bytes> held;
    for (const auto& [gpu, bytes] : sums) held.emplace(gpu, whole_mib(bytes));
    outside_.service.set_held_unmanaged(std::move(held));
}

}  // namespace cgpu::app
