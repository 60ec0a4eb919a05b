#include "daemon/app/witness/compute_witness.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace cgpu::app {
namespace {

constexpr std::uint64_t kAll = 100;  // per cent

/// The part of the GPU's time by pid, of the samples that are newer. In the field values above 100 were seen,
/// as sums over processes, too; then they are taken for shares.
std::map<std::int32_t, double> shares_of(const std::vector<UtilizationSample>& samples,
                                         std::uint64_t after_us) {
    std::map<std::int32_t, double> shares;
    for (const UtilizationSample& sample : samples) {
        if (sample.pid <= 0 || sample.time_us <= after_us) continue;
        const auto percent = static_cast<double>(std::min(sample.percent, kAll));
        double& share = shares[sample.pid];
        share = std::max(share, percent / static_cast<double>(kAll));
    }
    double sum = 0;
    for (const auto& [pid, share] : shares) sum += share;
    if (sum > 1)
        for (auto& [pid, share] : shares) share /= sum;
    return shares;
}

std::uint64_t newest_of(const std::vector<UtilizationSample>& samples, std::uint64_t before) {
    for (const UtilizationSample& sample : samples) before = std::max(before, sample.time_us);
    return before;
}

/// `process` of 0: all of the instance together.
Event event_of(EventType type, log::Level level, const model::Uuid& gpu, const model::InstanceId& instance,
               std::int32_t process, const std::string& what) {
    Event event{.type = type, .level = level};
    event.message =
        "instance " + instance.short_id() + ": " +
        (process == 0 ? "its processes together: " : "process " + std::to_string(process) + ": ") + what;
    event.instance = instance;
    event.gpu = gpu;
    event.process = process;
    event.details["kind"] = std::string("compute");
    return event;
}

}  // namespace

void ComputeWitness::look() {
    if (timer_ == nullptr) tick();
}

void ComputeWitness::tick() {
    const auto all = outside_.reports.reports();
    std::erase_if(gpus_, [&](const auto& item) {
        if (all.contains(item.first)) return false;
        for (const auto& [id, instance] : item.second.instances) tell_ended(item.first, id, instance);
        return true;
    });
    bool any = false;
    bool busy = false;
    for (const auto& [uuid, reports] : all) {
        Gpu& gpu = gpus_[uuid];
        read(uuid, gpu, reports);
        const bool has_some = std::ranges::any_of(
            gpu.instances, [](const auto& item) { return !item.second.processes.empty(); });
        any = any || has_some;
        busy = busy || gpu.busy;
        // Idle ones all at the same time, so that cgpud wakes once for them.
        const Nanos every = gpu.busy ? kAskEvery : kAskIdleEvery;
        if (has_some && !gpu.asking && outside_.loop.now() >= std::max(gpu.ask_at, gpu.asked_at + every))
            ask(uuid, gpu);
    }
    timer_ =
        any ? outside_.loop.at(outside_.loop.now() + (busy ? kReadEvery : kAskIdleEvery), [this] { tick(); })
            : nullptr;
}

void ComputeWitness::read(const model::Uuid& uuid, Gpu& gpu, const ComputeReports& reports) {
    std::erase_if(gpu.instances, [&](const auto& item) {
        if (reports.contains(item.first)) return false;
        tell_ended(uuid, item.first, item.second);
        return true;
    });
    for (const auto& [instance_id, its] : reports) {
        const model::InstanceId& id = instance_id;  // a lambda can't capture the former
        Instance& instance =
            gpu.instances.try_emplace(id, Instance{{}, 0, UseJudge(outside_.loop.now())}).first->second;
        auto all = its;
        for (const std::int32_t pid : outside_.outside(id, uuid)) {
            const auto same = [pid](const ComputeReport& each) { return each.process.pid == pid; };
            if (std::ranges::none_of(its, same)) all.push_back({.process = {pid, 0, ""}});
        }
        std::set<ProcessKey> present;
        for (const ComputeReport& report : all)
            present.emplace(report.process.pid, report.process.start_time);
        std::erase_if(instance.processes, [&](const auto& item) {
            if (present.contains(item.first)) return false;
            if (item.second.told) tell_ended(uuid, id, item.first.first);
            return true;
        });
        read(instance, all);
    }
}

void ComputeWitness::read(Instance& instance, const std::vector<ComputeReport>& reports) {
    const Nanos now = outside_.loop.now();
    for (const ComputeReport& report : reports) {
        Suspect& suspect = instance.processes
                               .try_emplace({report.process.pid, report.process.start_time},
                                            Suspect{report.page, {}, 0, UseJudge(now)})
                               .first->second;
        // A program that another one was replaced by in the same process, or the same one at another cgpud.
        if (suspect.page != report.page) suspect = {report.page, {}, 0, UseJudge(now), suspect.told};
        const Nanos before = suspect.total;
        suspect.total = suspect.reported.add(now, report);
        suspect.judge.reported(now, suspect.total);
        if (!suspect.judge.in_grace(now)) instance.total += suspect.total - before;
    }
    instance.together.reported(now, instance.total);
}

void ComputeWitness::ask(const model::Uuid& uuid, Gpu& gpu) {
    const Nanos now = outside_.loop.now();
    gpu.asking = true;
    gpu.asked_at = now;
    outside_.driver.utilization(
        uuid, gpu.after_us, [this, uuid, now, alive = std::weak_ptr(alive_)](const Result<Samples>& samples) {
            if (!alive.expired()) answered(uuid, samples, now);
        });
}

void ComputeWitness::answered(const model::Uuid& uuid, const Result<Samples>& samples, Nanos asked_at) {
    const auto found = gpus_.find(uuid);
    if (found == gpus_.end()) return;
    Gpu& gpu = found->second;
    const Nanos now = outside_.loop.now();
    gpu.asking = false;
    if (!samples || now - asked_at > kLate) {
        if (!samples) gpu.ask_at = now + kRefusedFor;
        gpu.after_us = 0;
        gpu.busy = false;
        gpu.outsiders.clear();
        gpu.strangers.reset();
        for (auto& [id, instance] : gpu.instances) {
            instance.together.forget();
            for (auto& [key, suspect] : instance.processes) suspect.judge.forget();
        }
        tell(uuid, gpu);
        return;
    }
    const auto all = outside_.reports.reports();
    const auto reports = all.find(uuid);
    if (reports == all.end()) return;
    read(uuid, gpu, reports->second);
    judge(gpu, *samples);
    tell(uuid, gpu);
}

void ComputeWitness::judge(Gpu& gpu, const Samples& samples) {
    const Nanos now = outside_.loop.now();
    // Of what time the samples are isn't known at first.
    const bool begins = gpu.after_us == 0;
    const auto shares = shares_of(samples, gpu.after_us);
    // Nothing is newer: either nobody uses the GPU, or the driver's clock was set back.
    gpu.after_us = shares.empty() ? 0 : newest_of(samples, gpu.after_us);
    gpu.busy = false;
    for (auto& [id, instance] : gpu.instances) {
        double sum = 0;
        double used = 0;
        for (auto& [key, suspect] : instance.processes) {
            const auto sample = shares.find(key.first);
            const double share = sample == shares.end() ? 0 : sample->second;
            used += share;
            // Later than its reports, which are of the whole time that the sample may be of then.
            if (!suspect.judge.in_grace(now - UseJudge::kLongest)) sum += share;
            if (begins)
                suspect.judge.begin(now);
            else
                suspect.judge.witnessed(now, share);
        }
        gpu.busy = gpu.busy || used >= UseJudge::kTolerance / 2;
        if (begins)
            instance.together.begin(now);
        else
            instance.together.witnessed(now, sum);
    }
    gpu.busy = count_strangers(gpu, shares) >= UseJudge::kTolerance / 2 || gpu.busy;
}

/// A process is a stranger if two answers in a row have it and no instance had it meanwhile: it may connect a
/// moment after its first kernel, and the driver still tells of processes that have ended.
double ComputeWitness::count_strangers(Gpu& gpu, const std::map<std::int32_t, double>& shares) {
    std::set<std::int32_t> members;
    for (const auto& [id, instance] : gpu.instances)
        for (const auto& [key, suspect] : instance.processes) members.insert(key.first);
    std::set<std::int32_t> outsiders;
    StrangersUse use;
    double most = 0;
    for (const auto& [pid, share] : shares) {
        if (members.contains(pid) || gpu.members.contains(pid)) continue;
        outsiders.insert(pid);
        if (!gpu.outsiders.contains(pid)) continue;
        use.share += share;
        if (share > most) {
            most = share;
            use.most = pid;
        }
    }
    gpu.members = std::move(members);
    gpu.outsiders = std::move(outsiders);
    gpu.strangers = use;
    return use.share;
}

double ComputeWitness::unreported(const model::InstanceId& id, const model::Uuid& gpu) const {
    const auto place = gpus_.find(gpu);
    if (place == gpus_.end()) return 0;
    const auto found = place->second.instances.find(id);
    if (found == place->second.instances.end()) return 0;
    double sum = 0;
    for (const auto& [key, suspect] : found->second.processes) sum += suspect.judge.unreported();
    return std::min(1.0, std::max(sum, found->second.together.unreported()));
}

std::optional<StrangersUse> ComputeWitness::strangers(const model::Uuid& gpu) const {
    const auto found = gpus_.find(gpu);
    if (found == gpus_.end() || outside_.loop.now() - found->second.asked_at > 2 * kAskIdleEvery)
        return std::nullopt;
    return found->second.strangers;
}

void ComputeWitness::tell(const model::Uuid& uuid, Gpu& gpu) {
    for (auto& [id, instance] : gpu.instances) {
        bool one = false;
        for (auto& [key, suspect] : instance.processes) {
            const bool found = suspect.judge.found();
            one = one || found;
            if (found == suspect.told) continue;
            suspect.told = found;
            if (found)
                tell_found(uuid, id, key.first, suspect.judge.unreported());
            else
                tell_ended(uuid, id, key.first);
        }
        // Where one of them is named, all of them together say nothing more.
        const bool found = instance.together.found() && (instance.told || !one);
        if (found == instance.told) continue;
        instance.told = found;
        if (found)
            tell_found(uuid, id, 0, instance.together.unreported());
        else
            tell_ended(uuid, id, 0);
    }
}

void ComputeWitness::tell_found(const model::Uuid& uuid, const model::InstanceId& id, std::int32_t pid,
                                double part) {
    const auto percent = static_cast<std::uint64_t>(std::lround(part * 100));
    const std::string subject = pid == 0 ? "use " : "uses ";
    auto event = event_of(EventType::escape_found, log::Level::warn, uuid, id, pid,
                          "by the driver's samples, " + subject + std::to_string(percent) +
                              "% of the time of " + uuid.to_string() +
                              " beyond what is reported, so that part of the compute isn't divided");
    event.details["unreported"] = percent;
    outside_.events.happened(std::move(event));
}

void ComputeWitness::tell_ended(const model::Uuid& uuid, const model::InstanceId& id, std::int32_t pid) {
    outside_.events.happened(event_of(EventType::escape_ended, log::Level::info, uuid, id, pid,
                                      "unreported compute on " + uuid.to_string() + " has ended"));
}

void ComputeWitness::tell_ended(const model::Uuid& uuid, const model::InstanceId& id,
                                const Instance& instance) {
    for (const auto& [key, suspect] : instance.processes)
        if (suspect.told) tell_ended(uuid, id, key.first);
    if (instance.told) tell_ended(uuid, id, 0);
}

}  // namespace cgpu::app
