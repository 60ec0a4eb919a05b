#include "client/cgpuctl/why/reasons.hpp"

#include <algorithm>

#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/smi/figures.hpp"
#include "client/cgpuctl/why/account.hpp"

namespace cgpu::cgpuctl::why {
namespace {

/// A share that is no further from the due one than this counts as the due one.
constexpr double kClose = 0.02;
/// Parts of the time that are smaller than this explain nothing.
constexpr double kNotable = 0.02;
/// Programs that wait for each of their kernels leave smaller gaps.
constexpr double kMuchIdle = 0.1;
/// A kernel that is longer than this delays everybody who is due after it. Nanoseconds.
constexpr std::uint64_t kLongKernel = 20'000'000;
constexpr std::size_t kMostRivals = 3;

std::string percent(double part) { return share_text(part); }

/// Its own time, and that of waiting launches, may overlap: so this is a lower bound.
double without_work(const Observed& seen) { return std::max(0.0, 1 - seen.got - seen.waited); }

/// Why a process gets no driver, and what to do, by the reasons of the event driver-unreachable.
std::string without_driver(const std::string& reason) {
    if (reason == "no-proc")
        return "/proc isn't mounted in its root. Try: mount /proc in its chroot or sandbox (bwrap: --proc "
               "/proc)";
    if (reason == "dumpable")
        return "its sandbox forbids PR_SET_DUMPABLE. Try: use one that leaves prctl(2) to the kernel";
    if (reason == "no-device")
        return "its /dev lacks the GPU's devices, or its CUDA_VISIBLE_DEVICES names none of the instance's. "
               "Try: give its chroot or sandbox the /dev that the job has (bwrap: --dev-bind /dev /dev)";
    if (reason == "no-link")
        return "its chroot or sandbox has the driver's libraries, and not the job's /run/cgpu. Try: mount "
               "that "
               "there, too (bwrap: --ro-bind /run/cgpu /run/cgpu)";
    return "the driver's library can't be loaded there. Try: cgpuctl events --type driver-unreachable, which "
           "says why";
}

std::string used_by_rivals(const Observed& seen) {
    std::string text;
    std::size_t named = 0;
    for (const Rival& rival : seen.rivals) {
        if (rival.used < kNotable || named == kMostRivals) break;
        text += (named++ == 0 ? " In all, the GPU was used " : ", ") + percent(rival.used) +
                " of the time by " + rival.name;
    }
    return text.empty() ? "" : text + ".";
}

class Reasons {
  public:
    explicit Reasons(const Observed& seen) : seen_(seen), had_(own_part(seen)) {}

    std::vector<Reason> all() {
        // It explains why nothing of it is connected.
        const bool first = !seen_.connected && seen_.launches == 0;
        if (first) driver();
        if (seen_.quota.paused) paused();
        if (!seen_.due)
            add("not-measured", "The driver divides the compute of GPU " + gpu() + " (mode " +
                                    seen_.gpu.mode + ", policy " + seen_.gpu.policy_name +
                                    "), so no share is due to it, and nothing is measured.");
        else if (!seen_.quota.paused)
            compare();
        idle();
        if (!first) driver();
        others();
        memory();
        return std::move(reasons_);
    }

  private:
    [[nodiscard]] std::string gpu() const { return std::to_string(seen_.gpu.index); }
    void add(std::string_view code, std::string text) { reasons_.push_back({code, std::move(text)}); }

    void driver() {
        for (const auto& [reason, pid] : seen_.without_driver)
            add("driver-unreachable",
                "Process " + std::to_string(pid) + " of it got no driver: " + without_driver(reason) + ".");
    }

    /// Nothing else explains what a paused instance gets.
    void paused() {
        if ((seen_.time_over || seen_.idle_over) && seen_.due)
            return add("paused", std::string(seen_.time_over ? "Its time is over, and so is the grace"
                                                             : "It was without work for too long, and its "
                                                               "grace is over") +
                                     ": its launches wait, and nothing is due to it. Try: cgpuctl extend " +
                                     word_for(seen_.name, seen_.id) + " 1h.");
        add("paused",
            "It is paused on GPU " + gpu() +
                (seen_.due ? ": its launches wait, and nothing is due to it until it is resumed"
                           : ", and computes there all the same, because the driver divides the GPU") +
                ". Try: cgpuctl resume " + word_for(seen_.name, seen_.id) + ".");
    }

    void compare() {
        strangers();
        if (!seen_.connected && seen_.launches == 0) {
            add("no-process", "No process of it uses the GPU.");
            return;
        }
        if (seen_.launches == 0 && seen_.got < kNotable && seen_.waited < kNotable) {
            add("no-work", "It launched nothing. Its share stays due to it, and others use the time.");
            return;
        }
        if (had_ > *seen_.due + kClose) {
            add("more-than-due",
                seen_.quota.high_priority
                    ? "It has high priority: while it is busy, the policy doesn't apply to it."
                    : "It got more than is due to it, because others left their time unused.");
            return;
        }
        if (had_ >= *seen_.due - kClose) {
            add("got-its-share", "It got what is due to it.");
            if (seen_.waited >= kNotable) waited();
            return;
        }
        fell_short();
    }

    /// They come first: nothing that the instance or the policy does ends that.
    void strangers() {
        if (seen_.strangers.value_or(0) < kNotable) return;
        const std::string pid = std::to_string(seen_.strangers_process);
        const bool slowed = had_ + kClose < seen_.got;
        add("strangers",
            "Processes of no instance used " + percent(*seen_.strangers) + " of the GPU's time" +
                (seen_.strangers_process == 0 ? "" : ", process " + pid + " most of it") +
                ". Nothing holds their compute" +
                (slowed ? ", and its kernels took that much longer. Try: " : ". Try: ") +
                (seen_.strangers_process == 0 ? "nvidia-smi, which lists them."
                                              : "ps -p " + pid + ", and run it by cgpuctl run."));
    }

    /// An instance that got its share isn't well if the GPU has nothing to do.
    void idle() {
        if (!seen_.due || reasons_.empty()) return;
        const auto said = [this](std::string_view code) {
            return std::ranges::find(reasons_, code, &Reason::code) != reasons_.end();
        };
        if (!said("got-its-share") && !said("more-than-due")) return;
        const double idle = without_any_work(seen_);
        if (idle < kMuchIdle) return;
        add("idle",
            "The GPU was idle " + percent(idle) +
                " of the time: nobody had work for it. Whatever its share is, its program asks for no "
                "more.");
    }

    void fell_short() {
        const double idle = without_work(seen_);
        const bool idle_first = idle >= seen_.waited;
        if (idle >= kNotable && idle_first) had_no_work(idle);
        if (seen_.waited >= kNotable) waited();
        if (idle >= kNotable && !idle_first) had_no_work(idle);
        if (reasons_.empty() || (reasons_.back().code == "strangers" && had_ + kClose >= seen_.got))
            add("unexplained",
                "Neither missing work nor waiting explains it. Try: measure for longer, by --seconds.");
    }

    void had_no_work(double idle) {
        add("without-work",
            "At least " + percent(idle) +
                " of the time it had no work for the GPU: it neither computed nor waited. Its "
                "program asks for less than its share.");
    }

    void waited() {
        add("waited", percent(seen_.waited) + " of the time its launches waited for their turn." +
                          used_by_rivals(seen_));
        for (const Rival& rival : seen_.rivals) {
            if (rival.used < kNotable) continue;
            if (rival.high_priority)
                add("high-priority", rival.name +
                                         " has high priority: while it is busy, the policy doesn't "
                                         "apply to it. Try: cgpuctl set-priority " +
                                         word_for(rival.name, rival.id) + " normal.");
            if (rival.longest_kernel > kLongKernel)
                add("long-kernel",
                    "The longest kernel of " + rival.name + " took " + duration_text(rival.longest_kernel) +
                        ". A kernel that runs can't be interrupted, so a turn can be late by that "
                        "much; the time is taken into account later.");
        }
        if (seen_.gpu.policy_name == "fixed" && had_ >= seen_.due.value_or(0) - kClose)
            add("fixed",
                "Under policy fixed it never gets more than its weight, even if nobody else uses the GPU.");
    }

    void others() {
        if (!seen_.outside.empty())
            add("outside",
                "Processes use the GPU without the module: " + smi::pids_text(seen_.outside) +
                    ". Nothing holds their compute. Try: cgpuctl list, which shows whose they are.");
        for (const auto& [name, part] : seen_.unreported)
            add("unreported",
                name + " uses " + percent(part) +
                    " of the GPU's time beyond what its processes report, by the driver's samples. "
                    "That part isn't charged to it. Try: cgpuctl events, which names the process.");
        for (const std::string& name : seen_.unmanaged)
            add("unmanaged",
                name + " is a container without a limit on this GPU. Nothing holds its compute.");
        if (seen_.preemptions > 0)
            add("preempted",
                counted(seen_.preemptions, "turn") +
                    " of it were cut short for an instance that woke up or has high priority. What "
                    "it lost is given back later.");
    }

    void memory() {
        if (seen_.refused > 0)
            add("allocations-refused", counted(seen_.refused, "allocation") +
                                           " of it failed because of its limit of " +
                                           size_text(seen_.quota.memory_limit) + " since it began; it uses " +
                                           size_text(seen_.memory_used) + " now. Try: cgpuctl set-memory " +
                                           word_for(seen_.name, seen_.id) + " SIZE.");
    }

    const Observed& seen_;
    double had_;  ///< part of the GPU's time, 0..1
    std::vector<Reason> reasons_;
};

}  // namespace

std::vector<Reason> reasons(const Observed& seen) { return Reasons(seen).all(); }

}  // namespace cgpu::cgpuctl::why
