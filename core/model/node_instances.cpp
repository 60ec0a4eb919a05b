#include <algorithm>
#include <set>

#include "core/model/counted.hpp"
#include "core/model/instance_word.hpp"
#include "core/model/node.hpp"
#include "core/model/percent.hpp"
#include "core/model/quote.hpp"
#include "core/model/size.hpp"

/// The transitions of instances and their quotas.
namespace cgpu::model {
namespace {

using Reason = Refusal::Reason;

/// To be called after each change of a quota: keeps what it was before the first one.
void keep_admitted(const Quota& before, Quota& now) {
    if (!now.admitted)
        now.admitted = Admitted{before.memory_limit, before.weight, before.high_priority, before.exclusive,
                                before.percent};
    if (is_as_admitted(now)) now.admitted.reset();
}

}  // namespace

struct Node::QuotaPlace {
    const Gpu* gpu;
    Instance* instance;
    Quota* quota;
};

std::string Node::describe_instance(const InstanceId& id) const {
    const auto* instance = find_instance(id);
    return instance ? describe(*instance) : "instance " + id.short_id();
}

tl::expected<Instance*, Refusal> Node::instance_for(std::string_view what, const InstanceId& id) {
    if (auto* instance = instances_.own(id)) return instance;
    return refuse(Reason::not_found, what, "no instance " + id.short_id() + " on this node",
                  "use an id that cgpuctl list shows");
}

tl::expected<Node::QuotaPlace, Refusal> Node::quota_for(std::string_view what, const InstanceId& id,
                                                        const Uuid& uuid) {
    const auto gpu = gpu_for(what, uuid);
    if (!gpu) return tl::unexpected(gpu.error());
    const auto instance = instance_for(what, id);
    if (!instance) return tl::unexpected(instance.error());
    for (Quota& quota : (*instance)->quotas)
        if (quota.gpu == uuid) return QuotaPlace{*gpu, *instance, &quota};
    return refuse(Reason::not_found, what, describe(**instance) + " is not on " + describe(**gpu),
                  "name a GPU that cgpuctl list shows for it");
}

/// Another user's instance with the same short id, where both ids are drawn, or with a name that means this
/// id.
const Instance* Node::another_users_like(const Instance& instance) const {
    if (!looks_drawn(instance.id.str())) return nullptr;
    const std::string begins = instance.id.short_id();
    for (const auto& [id, other] : instances_) {
        if (id == instance.id || other.creator == instance.creator) continue;
        if ((looks_drawn(id.str()) && id.short_id() == begins) || other.name == begins ||
            other.name == instance.id.str())
            return &other;
    }
    return nullptr;
}

tl::expected<Change, Refusal> Node::add_instance(Instance instance) {
    const std::string what = describe(instance);
    if (const auto* there = find_instance(instance.id)) {
        const bool another = there->creator && there->creator != instance.creator;
        return refuse(Reason::exists, what,
                      "it is there already" +
                          (another ? ", of user id " + std::to_string(*there->creator) : std::string()),
                      "remove it first, or use another id");
    }
    const auto after = instances_.lower_bound(instance.id);
    if (looks_short(instance.id.str()) && after != instances_.end() &&
        after->first.str().starts_with(instance.id.str()))
        return refuse(Reason::exists, what, "it is the short id of another instance", "use another id");
    // Drawn ids don't begin alike by chance. Root's is let in: nobody may keep a container from starting.
    if (instance.creator.value_or(0) != 0 && another_users_like(instance) != nullptr)
        return refuse(Reason::exists, what, "it has the short id or the name of another user's instance",
                      "use another id");
    if (auto checked = check_quotas(instance); !checked) return tl::unexpected(checked.error());
    const Change change = changed();
    instance.generation = generation_;
    forget_spent(instance.id);
    instances_.add(std::move(instance));
    return change;
}

tl::expected<Change, Refusal> Node::rename(const InstanceId& id, std::string name) {
    const auto instance = instance_for("renaming " + describe_instance(id), id);
    if (!instance) return tl::unexpected(instance.error());
    if ((*instance)->name == name) return Change::unchanged;
    for (const auto& [other, its] : instances_)
        if (other != id && (name == other.str() || name == other.short_id()))
            return refuse(Reason::exists, "renaming " + describe(**instance),
                          "it is the id of " + describe(its), "use another name");
    (*instance)->name = std::move(name);
    return changed();
}

const Instance* Node::find_reservation(std::string_view token) const {
    for (const auto& [id, instance] : instances_)
        if (instance.reservation && instance.reservation->token == token) return &instance;
    return nullptr;
}

tl::expected<Change, Refusal> Node::take_over(const InstanceId& reservation, Instance instance) {
    const auto* held = find_instance(reservation);
    if (held == nullptr || !held->reservation)
        return refuse(Reason::not_found, describe(instance), "its reservation is gone", "cgpuctl reserve");
    Node next = *this;
    next.instances_.remove(reservation);
    auto added = next.add_instance(std::move(instance));
    if (added) *this = std::move(next);
    return added;
}

tl::expected<void, Refusal> Node::check_quotas(const Instance& instance) const {
    const std::string what = describe(instance);
    if (instance.quotas.empty() || instance.quotas.size() > kMaxGpusPerInstance)
        return refuse(Reason::invalid, what, "it asks for " + counted(instance.quotas.size(), "GPU"),
                      "1 to " + std::to_string(kMaxGpusPerInstance) + " GPUs");
    std::set<Uuid> gpus;
    for (const Quota& quota : instance.quotas) {
        if (!gpus.insert(quota.gpu).second)
            return refuse(Reason::invalid, what, "GPU " + quota.gpu.to_string() + " is named twice",
                          "name each GPU once");
        if (auto checked = check_quota(instance.mode, quota); !checked)
            return refuse(what + " on GPU " + quota.gpu.to_string(), checked.error());
    }
    return {};
}

std::vector<Node::Untaken> Node::take_up(std::vector<InstanceRecord> records) {
    Node next = *this;
    for (const auto& record : records) next.instances_.remove(record.instance.id);
    std::vector<Untaken> untaken;
    bool any = false;
    for (auto& record : records) {
        for (Quota& quota : record.instance.quotas)
            if (const Gpu* gpu = find_gpu(quota.gpu); gpu != nullptr && quota.percent) {
                const auto weight = weight_under(quota, gpu->settings.max_inst);
                if (!weight) quota.percent.reset();
                quota.weight = weight.value_or(quota.weight);
            }
        if (auto checked = next.check_quotas(record.instance); !checked) {
            untaken.push_back({std::move(record), std::move(checked.error())});
            continue;
        }
        next.generation_ = std::max({next.generation_, record.generation, record.instance.generation});
        next.instances_.add(std::move(record.instance));
        any = true;
    }
    for (const auto& [record, refusal] : untaken)
        if (const auto* before = find_instance(record.instance.id); before && next.check_quotas(*before))
            next.instances_.add(*before);
    if (!any) return untaken;
    *this = std::move(next);
    changed();
    return untaken;
}

tl::expected<Change, Refusal> Node::attach(const InstanceId& id, const Process& process) {
    const std::string what = "process " + std::to_string(process.pid) + " of " + describe_instance(id);
    auto instance = instance_for(what, id);
    if (!instance) return tl::unexpected(instance.error());
    if (process.pid <= 0)
        return refuse(Reason::invalid, what, "it is not a process id", "use a number above 0");
    if ((*instance)->reservation)
        return refuse(Reason::unsupported, what, "it is a reservation, and no process lives with one",
                      "give its token to a new instance (CGPU_RESERVATION)");
    if ((*instance)->attached == process) return Change::unchanged;
    if ((*instance)->attached)
        return refuse(
            Reason::busy, what,
            "process " + std::to_string((*instance)->attached->pid) + " is its first process already",
            "remove the instance and create it anew");
    (*instance)->attached = process;
    return changed();
}

tl::expected<Change, Refusal> Node::go_on_with(const InstanceId& id, const Process& process) {
    const std::string what = "process " + std::to_string(process.pid) + " of " + describe_instance(id);
    auto instance = instance_for(what, id);
    if (!instance) return tl::unexpected(instance.error());
    if (!(*instance)->attached || process.pid <= 0)
        return refuse(Reason::invalid, what, "it can't take the place of a process that never was",
                      "attach the instance's first process");
    if ((*instance)->attached == process) return Change::unchanged;
    (*instance)->attached = process;
    return changed();
}

tl::expected<Change, Refusal> Node::remove_instance(const InstanceId& id) {
    const auto instance = instance_for("removing " + describe_instance(id), id);
    if (!instance) return tl::unexpected(instance.error());
    note_spent(**instance);
    instances_.remove(id);
    return changed();
}

tl::expected<Change, Refusal> Node::set_weight(const InstanceId& id, const Uuid& uuid, std::uint32_t weight) {
    const std::string what = "weight " + std::to_string(weight) + " for " + describe_instance(id);
    auto place = quota_for(what, id, uuid);
    if (!place) return tl::unexpected(place.error());
    const std::uint32_t max_inst = place->gpu->settings.max_inst;
    if (weight < 1 || weight > max_inst)
        return refuse(Reason::invalid, what, "it is out of range",
                      "1 to " + std::to_string(max_inst) + " (max_inst)");
    return put_weight(what, *place, weight, std::nullopt);
}

tl::expected<Change, Refusal> Node::set_percent(const InstanceId& id, const Uuid& uuid,
                                                std::uint32_t percent) {
    const std::string what = std::to_string(percent) + "% of the compute for " + describe_instance(id);
    auto place = quota_for(what, id, uuid);
    if (!place) return tl::unexpected(place.error());
    if (percent < 1 || percent > 100)
        return refuse(Reason::invalid, what, "it is out of range", "1% to 100%");
    const std::uint32_t max_inst = place->gpu->settings.max_inst;
    const auto slices = slices_of(percent, max_inst);
    if (!slices)
        return refuse(Reason::invalid, what,
                      "it is no whole number of the " + std::to_string(max_inst) + " slices of " +
                          describe(*place->gpu),
                      "use a multiple of " + std::to_string(least_percent(max_inst)) +
                          "%, another max_inst, or a weight in slices");
    return put_weight(what, *place, *slices, percent);
}

tl::expected<Change, Refusal> Node::put_weight(const std::string& what, const QuotaPlace& place,
                                               std::uint32_t weight, std::optional<std::uint32_t> percent) {
    Quota& quota = *place.quota;
    const Uuid& uuid = quota.gpu;
    const std::uint32_t max_inst = place.gpu->settings.max_inst;
    if (quota.weight == weight && quota.percent == percent) return Change::unchanged;
    const std::uint32_t reachable = free_weight(uuid) + quota.weight;
    if (weight > reachable)
        return refuse(Reason::no_space, what,
                      "it has " + std::to_string(quota.weight) + " and " + std::to_string(free_weight(uuid)) +
                          " of " + std::to_string(max_inst) + " is free on " + describe(*place.gpu),
                      (reachable > quota.weight ? std::to_string(reachable) + " at most"
                                                : std::string("keep the present one")) +
                          ", or lower the weight of another instance, or raise max_inst");
    const Quota before = quota;
    quota.weight = weight;
    quota.percent = percent;
    // An instance whose weight was reduced from 100 % no longer has the whole GPU.
    if (weight < max_inst) quota.exclusive = false;
    keep_admitted(before, quota);
    return changed();
}

tl::expected<Change, Refusal> Node::set_memory(const InstanceId& id, const Uuid& uuid, Bytes limit,
                                               Bytes in_use) {
    const std::string what = "memory limit " + format_size(limit) + " for " + describe_instance(id);
    auto place = quota_for(what, id, uuid);
    if (!place) return tl::unexpected(place.error());
    Quota& quota = *place->quota;
    if (limit == Bytes{}) return refuse(Reason::invalid, what, "it is zero", "1MiB or more");
    if (quota.memory_limit == limit) return Change::unchanged;
    const Bytes free = free_memory(uuid);
    if (limit > quota.memory_limit && limit - quota.memory_limit > free)
        return refuse(Reason::no_memory, what,
                      "it has " + format_size(quota.memory_limit) + " and " + format_mib(free) + " of " +
                          format_mib(place->gpu->total) + " is free on " + describe(*place->gpu),
                      format_mib(quota.memory_limit + free) + " at most, or lower another instance's limit");
    if (limit < in_use)
        return refuse(Reason::busy, what, "it uses " + format_size(in_use) + " now",
                      format_size(in_use) + " or more, or let it free memory first");
    const Quota before = quota;
    quota.memory_limit = limit;
    keep_admitted(before, quota);
    return changed();
}

tl::expected<Change, Refusal> Node::set_high_priority(const InstanceId& id, const Uuid& uuid, bool high) {
    auto place =
        quota_for(std::string(high ? "high" : "normal") + " priority for " + describe_instance(id), id, uuid);
    if (!place) return tl::unexpected(place.error());
    if (place->quota->high_priority == high) return Change::unchanged;
    const Quota before = *place->quota;
    place->quota->high_priority = high;
    keep_admitted(before, *place->quota);
    return changed();
}

tl::expected<Change, Refusal> Node::set_paused(const InstanceId& id, const Uuid& uuid, bool paused) {
    auto place = quota_for((paused ? "pausing " : "resuming ") + describe_instance(id), id, uuid);
    if (!place) return tl::unexpected(place.error());
    if (!paused && is_closed(*place->instance))
        return refuse(Reason::busy, "resuming " + describe(*place->instance),
                      place->instance->idle && place->instance->idle->closed
                          ? "it was without work for too long"
                          : "its time is over",
                      "cgpuctl extend " + id.short_id() + " 1h");
    if (paused && place->instance->reservation)
        return refuse(Reason::unsupported, "pausing " + describe(*place->instance),
                      "it is a reservation, which computes nothing", "cgpuctl stop, to give it back");
    if (place->quota->paused == paused) return Change::unchanged;
    if (paused && policy_in_force(*place->gpu) == Policy::native)
        return refuse(Reason::unsupported, "pausing " + describe(*place->instance),
                      "the driver divides the compute of " + describe(*place->gpu) + " (mode " +
                          std::string(to_string(place->instance->mode)) +
                          ", policy native), so cgpu can't hold it",
                      place->instance->mode == Mode::memory_compute
                          ? "cgpuctl set-policy " + std::to_string(place->gpu->index) + " proportional"
                          : "request mode memory+compute");
    place->quota->paused = paused;
    return changed();
}

}  // namespace cgpu::model
