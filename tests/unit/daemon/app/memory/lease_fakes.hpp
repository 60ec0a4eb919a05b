#pragma once

#include <unistd.h>

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <vector>

#include "daemon/app/memory/leases.hpp"

/// Minimal fakes of everything outside the leases.
namespace cgpu::app::test {

constexpr Nanos kMs = 1'000'000;
/// Enough for the queries that confirm a figure.
constexpr Nanos kSettled = 100 * kMs;

/// Time doesn't advance until a test advances it; posted calls run then, too.
class LeaseLoop final : public Loop {
  public:
    WatchPtr watch(int, std::uint32_t, std::function<void(std::uint32_t)>) override { return nullptr; }
    WatchPtr watch_asking(int, std::function<Wanted()>, std::function<void()>) override { return nullptr; }
    WatchPtr at(Nanos when, std::function<void()> call) override {
        timers_.emplace(++last_, std::pair(when, std::move(call)));
        return std::make_unique<Timer>(*this, last_);
    }
    void post(std::function<void()> call) override { posted_.push_back(std::move(call)); }
    Nanos now() const override { return now_; }

    void run_posted() {
        while (!posted_.empty()) {
            const auto call = std::move(posted_.front());
            posted_.pop_front();
            call();
        }
    }
    /// Runs everything that is due until then, in order of time.
    void advance(Nanos by) {
        const auto end = now_ + by;
        for (;;) {
            run_posted();
            auto next = timers_.end();
            for (auto it = timers_.begin(); it != timers_.end(); ++it)
                if (it->second.first <= end &&
                    (next == timers_.end() || it->second.first < next->second.first))
                    next = it;
            if (next == timers_.end()) break;
            now_ = std::max(now_, next->second.first);
            const auto call = std::move(next->second.second);
            timers_.erase(next);
            call();
        }
        now_ = end;
    }

    /// As after a time in which the daemon got no CPU: due calls come first, then messages that arrived
    /// meanwhile.
    void held_up(Nanos by) {
        now_ += by;
        std::vector<std::function<void()>> due;
        std::erase_if(timers_, [&](auto& item) {
            if (item.second.first > now_) return false;
            due.push_back(std::move(item.second.second));
            return true;
        });
        for (const auto& call : due) call();
    }

  private:
    struct Timer final : Watch {
        Timer(LeaseLoop& owner, int its_key) : loop(owner), key(its_key) {}
        ~Timer() override { loop.timers_.erase(key); }
        LeaseLoop& loop;
        int key;
    };
    Nanos now_ = 1'000'000'000;
    int last_ = 0;
    std::map<int, std::pair<Nanos, std::function<void()>>> timers_;
    std::deque<std::function<void()>> posted_;
};

struct LeaseProcesses final : Processes {
    std::set<std::int32_t> dead;
    std::uint64_t started = 50;  ///< when the daemon itself was
    Result<model::Process> identify(std::int32_t pid) override {
        return model::Process{pid, pid == getpid() ? started : 1, "boot"};
    }
    bool alive(const model::Process& process) override { return !dead.contains(process.pid); }
    std::optional<std::uint32_t> user_of(const model::Process&) override { return 0; }
    ProcessOwner owner_of(const model::Process&) override { return {}; }
    std::int32_t parent_of(const model::Process&) override { return 0; }
    WatchPtr on_exit(const model::Process&, std::function<void()>) override { return nullptr; }
    bool sees(const model::Process&, const std::filesystem::path&) override { return false; }
    WatchPtr find_first_to_see(const std::filesystem::path&, std::vector<model::Process>,
                               FoundProcess) override {
        return nullptr;
    }
    bool descends(const model::Process&, const model::Process&) override { return false; }
    std::unique_ptr<ProcessLook> look_at(const model::Process&) override { return nullptr; }
    std::string cgroup_made_for(const model::Process&, std::string_view) override { return {}; }
    std::set<std::int32_t> halted;
    bool stopped(const model::Process& process) override { return halted.contains(process.pid); }
    std::vector<std::int32_t> killed;
    Result<void> signal(const model::Process& process, Signal) override {
        killed.push_back(process.pid);
        return {};
    }
    [[nodiscard]] bool may_signal_others() const override { return true; }
    bool runs_for(const model::Process&, std::uint32_t) override { return true; }
};

/// One driver for all GPUs of a test; its answers come through the loop.
struct LeaseGpus final : Gpus {
    explicit LeaseGpus(LeaseLoop& its_loop) : loop(its_loop) {}
    LeaseLoop& loop;
    bool broken = false;
    int looks = 0;
    std::map<std::int32_t, std::uint64_t> shown;
    std::uint64_t own = 300ull << 20;     ///< what the driver has for itself
    std::uint64_t unattributed = 0;       ///< of no process that it shows, beside that
    std::uint64_t changed_meanwhile = 0;  ///< by so much more is in use at the end of the next look
    std::map<std::int32_t, std::uint64_t> shown_on_2;  ///< by GPU 2; `shown` is by all others
    void list(std::function<void(Result<model::SeenGpus>)> call) override { call({}); }
    void processes(const model::Uuid& gpu, std::function<void(Result<DriverFigures>)> call) override {
        ++looks;
        loop.post([this, call, second = gpu == model::Uuid(model::Uuid::Raw{2})] {
            if (broken)
                return call(model::refuse(model::Refusal::Reason::unsupported, "driver", "gone", "-"));
            DriverFigures figures;
            std::uint64_t used = own + unattributed;
            for (const auto& [pid, bytes] : second ? shown_on_2 : shown) {
                figures.processes.push_back({pid, bytes});
                used += bytes;
            }
            figures.used_before = used;
            figures.used_after = used + std::exchange(changed_meanwhile, 0);
            call(figures);
        });
    }
};

struct LeaseMemory final : LeaseTable {
    bool was_new = false;
    [[nodiscard]] bool is_new() const override { return was_new; }
    std::map<std::size_t, Saved> records;
    std::size_t next = 0;
    bool full = false;
    bool was_damaged = false;
    std::vector<Saved> saved() const override {
        std::vector<Saved> all;
        for (const auto& [place, record] : records) all.push_back(record);
        return all;
    }
    bool damaged() const override { return was_damaged; }
    Result<std::size_t> add(const LeaseKey& key) override {
        if (full) return model::refuse(model::Refusal::Reason::storage, "lease file", "it can't grow", "-");
        records.insert({next, Saved{next, key, {}}});
        return next++;
    }
    void set(std::size_t place, const LeaseAmounts& amounts) override { records.at(place).amounts = amounts; }
    void remove(std::size_t place) override { records.erase(place); }

    std::map<model::Uuid, std::uint64_t> contexts;
    std::vector<ContextSize> context_sizes() const override {
        std::vector<ContextSize> all;
        for (const auto& [uuid, bytes] : contexts) all.push_back({uuid, bytes});
        return all;
    }
    void set_context_size(const ContextSize& size) override { contexts[size.gpu] = size.bytes; }
};

/// Processes that report truthfully, and answer recalls as `spare` says.
struct LeaseFronts final : LeasePeers {
    LeaseLoop* loop = nullptr;
    Leases* leases = nullptr;
    std::map<std::int32_t, std::uint64_t> charges;
    std::map<std::int32_t, std::uint64_t> pooled;  ///< of them
    std::set<std::int32_t> changing;               ///< stopped in the middle of a change
    std::set<std::int32_t> stopped;                ///< get recalls and don't answer
    std::vector<std::pair<std::int32_t, std::uint64_t>> recalls;
    std::vector<InstanceKey> gone;
    std::function<std::uint64_t(const LeaseKey&, std::uint64_t)> spare;

    std::optional<LeaseReport> report(const LeaseKey& key) const override {
        const auto pid = key.process.pid;
        const auto found = charges.find(pid);
        if (found == charges.end()) return std::nullopt;
        return LeaseReport{.charged = found->second,
                           .pooled = pooled.contains(pid) ? pooled.at(pid) : 0,
                           .changing = changing.contains(pid) ? 1U : 0U};
    }
    bool recall(const LeaseKey& key, std::uint64_t bytes) override {
        recalls.emplace_back(key.process.pid, bytes);
        if (!stopped.contains(key.process.pid))
            loop->post([this, key, bytes] { leases->give(key, spare ? spare(key, bytes) : 0); });
        return true;
    }
    void memory_gone(const InstanceKey& instance) override { gone.push_back(instance); }
    std::set<std::int32_t> ours;  ///< of those that never connected
    void stranger(const model::Uuid& gpu, std::int32_t pid) override;
};

constexpr std::uint64_t kMiB = 1ull << 20;
constexpr std::uint64_t kGiB = 1ull << 30;

inline model::Uuid gpu(std::uint8_t n) { return model::Uuid(model::Uuid::Raw{n}); }

inline model::Instance instance(const char* id, std::uint64_t limit, std::uint64_t generation = 1) {
    model::Instance made{.id = *model::InstanceId::parse(id),
                         .name = {},
                         .generation = generation,
                         .quotas = {},
                         .attached = {}};
    made.quotas.push_back({.gpu = gpu(1), .memory_limit = model::Bytes(limit)});
    return made;
}

inline void LeaseFronts::stranger(const model::Uuid& gpu, std::int32_t pid) {
    if (!ours.contains(pid)) return;
    static_cast<void>(leases->stranger_entered(key_of(instance("one", 0)), {pid, 1, "boot"}, gpu));
}

/// All of these together, with one instance "one" on GPU 1.
struct LeaseBed {
    explicit LeaseBed(std::uint64_t limit_bytes, LeaseMemory earlier = {}, const LeaseSettings& settings = {})
        : table(std::move(earlier)), leases({loop, processes, gpus, table, events}, settings) {
        fronts.loop = &loop;
        fronts.leases = &leases;
        leases.set_peers(&fronts);
        set_limit(limit_bytes);
    }
    void set_limit(std::uint64_t bytes) {
        limit = bytes;
        leases.set_instance(instance("one", limit));
    }
    LeaseKey key(std::int32_t pid) const { return {{key_of(instance("one", 0)), gpu(1)}, {pid, 1, "boot"}}; }
    void enter(std::int32_t pid) {
        fronts.charges[pid] = 0;
        must(leases.process_entered(key(pid).pool.instance, key(pid).process));
    }
    static void must(const Result<void>& result) {
        if (!result) throw std::runtime_error(result.error().text);
    }
    /// Starts an ask; the answer is stored in the pointer once it has arrived.
    std::shared_ptr<std::optional<LeaseAnswer>> ask(std::int32_t pid, std::uint64_t bytes,
                                                    LeaseAsk::What what = LeaseAsk::What::lease) {
        auto answer = std::make_shared<std::optional<LeaseAnswer>>();
        leases.ask({key(pid), what, bytes}, [answer](const LeaseAnswer& got) {
            *answer = got;
            return true;
        });
        return answer;
    }
    std::uint64_t leased() const { return leases.pools().leased(key(1).pool.instance.id, gpu(1)); }
    std::uint64_t used() const { return leases.pools().used(key(1).pool.instance.id, gpu(1)); }
    std::uint64_t excess() const { return used() - std::min(used(), limit); }
    std::uint64_t unexplained() const { return leases.pools().unexplained(key(1).pool.instance.id, gpu(1)); }

    std::vector<std::int32_t> outside() const {
        return leases.pools().outside(key(1).pool.instance.id, gpu(1));
    }

    LeaseLoop loop;
    LeaseProcesses processes;
    LeaseGpus gpus{loop};
    LeaseMemory table;
    LeaseFronts fronts;
    Events events;
    Leases leases;
    std::uint64_t limit = 0;
};

}  // namespace cgpu::app::test
