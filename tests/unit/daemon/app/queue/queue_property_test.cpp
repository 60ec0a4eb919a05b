// Days of a node in virtual time: users who ask, wait, leave and end; cgpud that is killed; GPUs that are
// drained and lost; limits that change; an upgrade that closes the gate; a user who floods the queue; parts
// that are reserved, taken over, given back and forgotten; a clock that is set.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <random>

#include "daemon/app/queue/admission_queue.hpp"
#include "tests/unit/daemon/app/queue/queue_bed.hpp"

namespace cgpu::app {
namespace {

constexpr std::uint8_t kGpus = 4;
constexpr std::uint64_t kTotalMib = 16130;

class Day final : public test::QueueTest {
  public:
    explicit Day(std::uint64_t seed) : random_(seed) { see({}); }
    void TestBody() override {}

    void run(int steps) {
        for (int step = 0; step < steps; ++step) {
            do_something();
            settle();
        }
        calm_down();
    }

  private:
    struct One {
        Asked asked;
        std::shared_ptr<Call> call;
        bool attached = false;
        bool away = false;  ///< cgpud has been restarted, and it hasn't asked again
    };

    std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
    std::uint64_t share_of(std::uint64_t mib) { return mib * (1 + below(9)); }

    void see(const std::set<std::uint8_t>& lost) {
        model::SeenGpus seen;
        for (std::uint8_t i = 0; i < kGpus; ++i) {
            model::SeenGpu gpu;
            gpu.uuid = *model::Uuid::parse("GPU-00000000-0000-0000-0000-00000000000" + std::to_string(i + 1));
            gpu.model_name = "V100";
            gpu.index = i;
            gpu.total = model::Bytes::from_mib(kTotalMib);
            if (!lost.contains(i)) seen.gpus.push_back(gpu);
        }
        service->gpus_seen(seen);
    }

    void do_something() {
        switch (below(20)) {
            case 0:
                return kill_one_that_waits();
            case 1:
                return restart();
            case 2:
                return drain();
            case 3:
                return see(below(2) == 0 ? std::set<std::uint8_t>{} : std::set<std::uint8_t>{1});
            case 4:
                admission.closed = below(3) == 0;
                return;
            case 5:
                return change_limits();
            case 6:
                return withdraw();
            case 12:
                wall_clock += below(2) == 0 ? 3600 : std::uint64_t{0} - 3600;
                return;
            case 13:
                for (int i = 0; i < 8; ++i) ask_one(1003);
                return;
            case 14:
                return ask_one(1000 + static_cast<std::uint32_t>(below(3)), true);
            case 15:
                return use_reservation();
            case 7:
            case 8:
                return loop.advance(static_cast<Nanos>(1 + below(600)) * kSecond);
            case 9:
            case 10:
            case 11:
                return end_one();
            default:
                return ask_one(1000 + static_cast<std::uint32_t>(below(3)));
        }
    }

    void ask_one(std::uint32_t user, bool reserves = false) {
        const std::string id = "job" + std::to_string(ones_.size());
        One one{{id, id, {{"CGPU_MEM", std::to_string(share_of(1700)) + "MiB"}}, {}, {}, {}},
                std::make_shared<Call>(Call{id, std::nullopt})};
        const auto pid = pid_of(id);
        processes.living.insert(pid);
        processes.users[pid] = user;
        one.asked.caller = {user, {pid, 7, "boot"}};
        constexpr std::array kWaits = {"", "forever", "forever", "5m"};
        if (const std::string wait = kWaits[below(kWaits.size())]; !wait.empty())
            one.asked.variables.emplace("CGPU_WAIT", wait);
        if (below(3) == 0) one.asked.variables.emplace("CGPU_TIME", below(2) == 0 ? "10m" : "1h");
        if (below(6) == 0) one.asked.variables.emplace("CGPU_PRIO", "high");
        if (below(5) == 0) one.asked.variables.emplace("aliyun.com/gpu-count", "2");
        if (reserves) {
            tokens_.push_back(token_of(ones_.size()));
            one.asked.hold = Hold{tokens_.back(), 1 + below(3600)};
        }
        repeat(one.asked, one.call);
        ones_.push_back(std::move(one));
    }
    static std::string token_of(std::size_t number) {
        const auto digits = std::to_string(number);
        return std::string(32 - digits.size(), 'a') + digits;
    }
    /// One of them that is held: it is taken over with all that it holds; others are refused.
    void use_reservation() {
        if (tokens_.empty()) return;
        const auto& token = tokens_[below(tokens_.size())];
        const auto* held = service->node().find_reservation(token);
        const auto before = held == nullptr ? std::nullopt : std::optional(*held);
        const std::string id = "job" + std::to_string(ones_.size());
        const auto user = before ? before->creator.value() : 1000;
        const auto pid = pid_of(id);
        processes.living.insert(pid);
        processes.users[pid] = user;
        One one{{id, id, {{"CGPU_RESERVATION", token}}, {user, {pid, 7, "boot"}}},
                std::make_shared<Call>(Call{id, std::nullopt})};
        repeat(one.asked, one.call);
        RC_ASSERT(!waits(one.call));
        if (!before) RC_ASSERT(!runs(one.call));
        if (runs(one.call)) {
            const auto& instance = (*one.call->answer)->instance;
            RC_ASSERT(instance.quotas == before->quotas);
            RC_ASSERT(instance.owner == before->owner);
            RC_ASSERT(service->node().find_reservation(token) == nullptr);
            RC_TAG("a reservation is used");
        }
        ones_.push_back(std::move(one));
    }

    void restart() {
        const auto saved = store.saved;
        service.reset();
        start(saved);
        service->adopt();
        see({});
        service->adopt_queue(queue_store.left());
        limits.set_rules(rules_);
        for (One& one : ones_) one.away = waits(one.call) && alive(one);
    }
    void drain() {
        const GpuChange change{.gpu = std::to_string(below(kGpus)), .drained = below(2) == 0};
        (void)service->changes().make(change, {});
    }
    void change_limits() {
        rules_ = {};
        if (below(2) == 0) rules_.others.instances = static_cast<std::uint32_t>(1 + below(4));
        limits.set_rules(rules_);
    }
    void end_one() {
        if (auto* one = any([this](const One& each) { return runs(each.call) && alive(each); }))
            end(one->asked.id);
    }
    void kill_one_that_waits() {
        if (auto* one = any([this](const One& each) { return waits(each.call) && alive(each); }))
            end(one->asked.id);
    }
    void withdraw() {
        const auto all = service->queue()->all();
        if (all.empty()) return;
        const auto id = all[below(all.size())].request->id().str();
        RC_ASSERT(service->release_instance(id, {0, {1, 7, "boot"}}, {}).has_value());
    }
    bool alive(const One& one) { return processes.living.contains(pid_of(one.asked.id)); }
    template <class Wanted>
    One* any(Wanted wanted) {
        std::vector<One*> some;
        for (One& one : ones_)
            if (wanted(one)) some.push_back(&one);
        return some.empty() ? nullptr : some[below(some.size())];
    }

    /// Those that run are attached, those that were away ask again; and then everything must be as it should.
    void settle() {
        loop.advance(1);
        for (One& one : ones_)
            if (std::exchange(one.away, false) && alive(one)) repeat(one.asked, one.call);
        loop.advance(AdmissionQueue::kLookEvery);
        attach_new();
        loop.advance(1);
        expect_all_is_well();
    }
    void attach_new() {
        for (One& one : ones_)
            if (runs(one.call) && !one.asked.hold && !one.attached && alive(one)) {
                one.attached = true;
                (void)service->attach(one.asked.id, one.asked.caller.process, {0, {1, 7, "boot"}}, {});
            }
    }

    void expect_all_is_well() {
        std::set<std::string> unanswered;
        for (One& one : ones_)
            if (waits(one.call) && alive(one)) unanswered.insert(one.asked.id);
        std::set<std::string> in_queue;
        std::set<std::string> stored;
        for (const auto& place : service->queue()->all()) {
            in_queue.insert(place.request->id().str());
            RC_ASSERT(place.position == in_queue.size());
            RC_ASSERT(!place.waits_for.empty());
        }
        for (const auto& [id, request] : queue_store.all) stored.insert(id);
        RC_ASSERT(in_queue == unanswered);
        RC_ASSERT(stored == in_queue);
        for (const auto& [id, instance] : service->node().instances())
            RC_ASSERT(!in_queue.contains(id.str()));
        for (const auto& gpu : service->node().gpus()) {
            std::uint64_t mib = 0;
            for (const auto* instance : instances_on(service->node(), gpu.uuid))
                mib += instance->quota_on(gpu.uuid)->memory_limit.mib();
            RC_ASSERT(mib <= kTotalMib);
        }
        expect_no_gpu_idles();
    }

    /// The first one that waits for room doesn't fit.
    void expect_no_gpu_idles() {
        if (admission.closed) return;
        for (const auto& place : service->queue()->all()) {
            if (place.waits_for.starts_with("its owner") ||
                place.waits_for.starts_with("too few of the GPUs that could take"))
                continue;
            admission::Defaults defaults;
            defaults.default_memory = service->default_memory();
            const auto grant = admission::admit(service->node(), place.request->waiting.request, defaults);
            RC_ASSERT(!grant.has_value());
            return;
        }
    }

    void give_back_reservations() {
        std::vector<std::string> held;
        for (const auto& [id, instance] : service->node().instances())
            if (instance.reservation) held.push_back(id.str());
        for (const auto& id : held)
            RC_ASSERT(service->release_instance(id, {0, {1, 7, "boot"}}, {}).has_value());
    }

    /// Nobody starves: as others end, all start.
    void calm_down() {
        admission.closed = false;
        rules_ = {};
        limits.set_rules(rules_);
        see({});
        for (std::uint8_t gpu = 0; gpu < kGpus; ++gpu)
            (void)service->changes().make(GpuChange{.gpu = std::to_string(gpu), .drained = false}, {});
        settle();
        for (std::size_t round = 0; round <= ones_.size() && !service->queue()->empty(); ++round) {
            for (One& one : ones_)
                if (runs(one.call) && alive(one)) end(one.asked.id);
            give_back_reservations();
            settle();
        }
        RC_ASSERT(service->queue()->empty());
        RC_ASSERT(queue_store.all.empty());
        loop.advance(3601 * kSecond);
        for (const auto& [id, instance] : service->node().instances()) RC_ASSERT(!instance.reservation);
        RC_CLASSIFY(recorded.of(EventType::queue_left).size() > 10, "more than ten waited");
    }

    std::mt19937_64 random_;
    std::vector<One> ones_;
    std::vector<std::string> tokens_;
    limits::Rules rules_;
};

TEST(QueueProperty, NobodyIsLostStarvesOrPassesUnexplained) {
    rc::check([](std::uint64_t seed) { Day(seed).run(120); });
}

}  // namespace
}  // namespace cgpu::app
