#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/app/events/events.hpp"
#include "daemon/app/ports/loop.hpp"
#include "daemon/app/witness/sources.hpp"
#include "daemon/app/witness/use_judge.hpp"

namespace cgpu::app {

/// Looks for compute that nobody reports: asks the driver how much each process uses the GPUs whose compute
/// is measured, and compares that with the processes' reports (UseJudge). Makes an event when a process, or
/// all processes of an instance together, are found, and one when that is over. It changes nothing else: the
/// figures are not exact enough to refuse anything by them.
///
/// A process has few such events: who is found has used a fifth of the GPU for ten seconds.
class ComputeWitness final : public UnreportedUse {
  public:
    static constexpr Nanos kAskEvery = 2 * kSecond;
    /// The same of a GPU that its instances hardly use: on a node with 16 idle GPUs each question counts.
    static constexpr Nanos kAskIdleEvery = 10 * kSecond;
    /// How often the reports are read while a process of an instance uses a GPU notably. They are needed for
    /// parts of the time between two answers.
    static constexpr Nanos kReadEvery = kSecond / 2;
    /// An answer that took longer is of no use: the reports have been read for another time.
    static constexpr Nanos kLate = kSecond;
    /// When a GPU is asked for again that has no such figures.
    static constexpr Nanos kRefusedFor = 60 * kSecond;

    struct Outside {
        Loop& loop;
        UtilizationSource& driver;
        ReportSource& reports;
        Events& events;
        /// The host pids of an instance's processes that use the GPU and report nothing.
        std::function<std::vector<std::int32_t>(const model::InstanceId&, const model::Uuid&)> outside;
    };

    explicit ComputeWitness(Outside outside) : outside_(std::move(outside)) {}
    ComputeWitness(const ComputeWitness&) = delete;
    ComputeWitness& operator=(const ComputeWitness&) = delete;

    /// Begins to look, unless it does already. It rests when no process is there any more, so this must be
    /// called again and again.
    void look();

    [[nodiscard]] double unreported(const model::InstanceId& id, const model::Uuid& gpu) const override;
    [[nodiscard]] std::optional<StrangersUse> strangers(const model::Uuid& gpu) const override;

  private:
    using ProcessKey = std::pair<std::int32_t, std::uint64_t>;  ///< pid, start; 0: it isn't known
    struct Suspect {
        const void* page = nullptr;
        ReportedTime reported;
        Nanos total = 0;
        UseJudge judge;
        bool told = false;
    };
    struct Instance {
        std::map<ProcessKey, Suspect> processes;
        Nanos total = 0;  ///< of its processes, without their first seconds
        UseJudge together;
        bool told = false;
    };
    struct Gpu {
        std::map<model::InstanceId, Instance> instances;
        bool asking = false;
        Nanos ask_at = 0;  ///< not before: the driver has refused
        Nanos asked_at = -kAskIdleEvery;
        std::uint64_t after_us = 0;          ///< the driver's time of the newest sample; 0: begin anew
        bool busy = false;                   ///< by the last answer, somebody uses it notably
        std::set<std::int32_t> members{};    ///< pids of the instances at the last answer
        std::set<std::int32_t> outsiders{};  ///< pids of the last answer that were none
        std::optional<StrangersUse> strangers = std::nullopt;
    };
    using Samples = std::vector<UtilizationSample>;

    void tick();
    void read(const model::Uuid& uuid, Gpu& gpu, const ComputeReports& reports);
    void read(Instance& instance, const std::vector<ComputeReport>& reports);
    void ask(const model::Uuid& uuid, Gpu& gpu);
    void answered(const model::Uuid& uuid, const Result<Samples>& samples, Nanos asked_at);
    void judge(Gpu& gpu, const Samples& samples);
    /// The part of the GPU's time, 0..1, that those use who belong to nobody.
    double count_strangers(Gpu& gpu, const std::map<std::int32_t, double>& shares);
    void tell(const model::Uuid& uuid, Gpu& gpu);
    void tell_found(const model::Uuid& uuid, const model::InstanceId& id, std::int32_t pid, double part);
    void tell_ended(const model::Uuid& uuid, const model::InstanceId& id, std::int32_t pid);
    void tell_ended(const model::Uuid& uuid, const model::InstanceId& id, const Instance& instance);

    Outside outside_;
    std::map<model::Uuid, Gpu> gpus_;
    WatchPtr timer_;
    std::shared_ptr<int> alive_ =
        std::make_shared<int>(0);  ///< the driver may answer after this object's end
};

}  // namespace cgpu::app
