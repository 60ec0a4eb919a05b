#include "client/cgpuctl/top/model/model.hpp"

#include <algorithm>
#include <utility>

namespace cgpu::cgpuctl::top {
namespace {

GpuRow row_of_gpu(const client::Gpu& gpu, const smi::View* before, const smi::View& now) {
    GpuRow row;
    row.uuid = gpu.uuid;
    row.index = gpu.index;
    row.model = gpu.model;
    row.present = gpu.present;
    row.drained = gpu.drained;
    row.policy = gpu.policy_name;
    row.instances = smi::instances_on(now.snapshot, gpu);
    row.max_inst = gpu.max_inst;
    row.utilization = smi::utilization(gpu, before, now);
    row.memory_used = gpu.memory_used;
    row.memory_allocated = gpu.memory_allocated;
    row.memory_total = gpu.memory_total;
    return row;
}

InstanceRow row_of_foreign(const client::Instance& instance, const client::ForeignGpu& foreign,
                           UserNames& users) {
    InstanceRow row;
    row.place = {instance.id, foreign.uuid};
    row.name = instance.name;
    row.owner = owner_text(instance.owner, instance.declared_owner, users);
    row.gpu_index = foreign.index;
    row.own = false;
    row.processes = foreign.usage.processes.size() + foreign.usage.processes_outside.size();
    row.memory_used = foreign.usage.memory_used;
    return row;
}

}  // namespace

InstanceRow Model::row_of(const client::Instance& instance, const client::OnGpu& place,
                          const smi::View& now) {
    const smi::View* before = before_ ? &before_->view : nullptr;
    InstanceRow row;
    row.place = {instance.id, place.quota.gpu};
    row.name = instance.name;
    row.owner = owner_text(instance.owner, instance.declared_owner, users_);
    row.gpu_index = place.quota.gpu_index;
    row.weight = place.quota.weight;
    row.high = place.quota.high_priority;
    row.paused = place.quota.paused;
    row.due = place.usage.target_share;
    row.got = smi::utilization(instance, place, before, now);
    row.waiting = smi::waiting(instance, place, before, now);
    row.processes = place.usage.processes.size() + place.usage.processes_outside.size();
    row.memory_used = place.usage.memory_used;
    row.memory_limit = place.quota.memory_limit;
    for (const client::Process& process : instance.processes)
        row.who += (row.who.empty() ? "" : ", ") + process_text(process, users_);
    return row;
}

void Model::add(smi::Reading reading) {
    if (before_) reading.view.interval = reading.at - before_->at;
    const smi::View& now = reading.view;
    Rows rows;
    rows.waiting = now.snapshot.queue.size();
    for (const client::Gpu& gpu : now.snapshot.gpus)
        rows.gpus.push_back(row_of_gpu(gpu, before_ ? &before_->view : nullptr, now));
    for (const client::Instance& instance : now.snapshot.instances) {
        for (const client::OnGpu& place : instance.gpus)
            rows.instances.push_back(row_of(instance, place, now));
        for (const client::ForeignGpu& foreign : instance.foreign_gpus)
            rows.instances.push_back(row_of_foreign(instance, foreign, users_));
    }
    std::ranges::stable_sort(rows.instances, {}, &InstanceRow::gpu_index);
    std::map<PlaceId, History> history;
    for (InstanceRow& row : rows.instances) {
        History& its = history[row.place];
        if (const auto past = history_.find(row.place); past != history_.end()) its = std::move(past->second);
        its.push_back(row.got);
        if (its.size() > kKept) its.erase(its.begin());
        row.history = its;
    }
    history_ = std::move(history);
    rows_ = std::move(rows);
    version_ = now.snapshot.version;
    taken_ = now.taken;
    before_ = std::move(reading);
}

}  // namespace cgpu::cgpuctl::top
