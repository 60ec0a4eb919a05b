#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "tests/unit/core/support/nodes.hpp"

namespace cgpu::model {
namespace {

using namespace cgpu::test;

constexpr std::uint64_t kTotalMib = 1000;

/// Random transitions with values in and around the legal ranges.
class Walk {
  public:
    Node node = test::node({gpu(0, kTotalMib), gpu(1, kTotalMib), gpu(2, kTotalMib)});

    tl::expected<Change, Refusal> step() {
        const auto action = *rc::gen::inRange(0, 15);
        const auto uuid = test::uuid(*rc::gen::inRange<std::uint8_t>(0, 4));
        const auto name = id(std::string(1, *rc::gen::inRange<char>('a', 'k')));
        switch (action) {
            case 0:
            case 1:
            case 2:
                return node.add_instance(random_instance(name.str()));
            case 3:
                return node.remove_instance(name);
            case 4:
                return node.set_policy(uuid, static_cast<Policy>(*rc::gen::inRange(0U, 6U)));
            case 5:
                return node.set_max_inst(uuid, *rc::gen::inRange(0U, 28U));
            case 6:
                return node.set_weight(name, uuid, *rc::gen::inRange(0U, 28U));
            case 7:
                return node.set_memory(name, uuid, random_memory(), random_memory());
            case 8:
                return node.set_prio_ratio(uuid, *rc::gen::inRange(0U, 110U));
            case 9:
                return node.attach(name, {*rc::gen::inRange(0, 3), 1, "boot"});
            case 10:
                return node.keep(name, uuid, random_figures());
            case 11:
                return node.forget(random_name(), random_owner());
            case 12:
                return node.set_drained(uuid, *rc::gen::arbitrary<bool>());
            case 13:
                return node.set_paused(name, uuid, *rc::gen::arbitrary<bool>());
            default:
                return node.sync_gpus(random_sightings());
        }
    }

  private:
    static Bytes random_memory() {
        return Bytes::from_mib(*rc::gen::inRange<std::uint64_t>(0, kTotalMib + 100));
    }
    static Mode random_mode() { return static_cast<Mode>(*rc::gen::inRange(0U, 3U)); }

    static std::string random_name() { return *rc::gen::element<std::string>("", "web", "train"); }
    static std::optional<std::uint32_t> random_owner() {
        const auto owner = *rc::gen::inRange(0U, 3U);
        return owner == 2 ? std::nullopt : std::optional(owner);
    }
    static KeptFigures random_figures() {
        KeptFigures figures;
        if (*rc::gen::arbitrary<bool>()) figures.memory_limit = Bytes::from_mib(*rc::gen::inRange(1U, 9U));
        if (*rc::gen::arbitrary<bool>()) figures.weight = *rc::gen::inRange(1U, 4U);
        if (*rc::gen::arbitrary<bool>()) figures.high_priority = *rc::gen::arbitrary<bool>();
        return figures;
    }

    static Instance random_instance(const std::string& name) {
        std::vector<Quota> quotas;
        for (auto count = *rc::gen::inRange(1, 4); count > 0; --count) {
            Quota random = quota(*rc::gen::inRange<std::uint8_t>(0, 4),
                                 *rc::gen::inRange<std::uint64_t>(0, 500), *rc::gen::inRange(0U, 8U));
            random.exclusive = *rc::gen::inRange(0, 10) == 0;
            if (*rc::gen::inRange(0, 2) == 0) random.percent = random.weight * *rc::gen::element(4U, 5U, 10U);
            quotas.push_back(random);
        }
        auto made =
            instance(name, quotas, *rc::gen::inRange(0, 5) == 0 ? random_mode() : Mode::memory_compute);
        made.name = random_name();
        made.creator = random_owner();
        return made;
    }

    static std::vector<Sighting> random_sightings() {
        std::vector<Sighting> seen;
        for (std::uint8_t n = 0; n < 4; ++n)
            if (*rc::gen::inRange(0, 4) != 0) seen.push_back(gpu(n, kTotalMib));
        return seen;
    }
};

RC_GTEST_PROP(NodeProperty, EverySequenceKeepsTheRules, ()) {
    Walk walk;
    for (auto steps = *rc::gen::inRange(1, 80); steps > 0; --steps) {
        const Node before = walk.node;
        const auto result = walk.step();
        if (!result || *result == Change::unchanged) {
            RC_ASSERT(walk.node == before);
        } else {
            RC_ASSERT(walk.node.generation() > before.generation());
        }
        if (!result) RC_ASSERT(result.error().text.find(". Try: ") != std::string::npos);
        for (const Gpu& gpu : walk.node.gpus()) {
            RC_ASSERT(walk.node.allocated(gpu.uuid) <= gpu.total);
            RC_ASSERT(walk.node.free_weight(gpu.uuid) <= gpu.settings.max_inst);
            RC_ASSERT(walk.node.occupants_of(gpu.uuid).size() <= gpu.settings.max_inst);
        }
        for (const auto& [id, its] : before.instances()) {
            const Instance* now = walk.node.find_instance(id);
            if (now == nullptr || now->generation != its.generation) continue;
            for (std::size_t i = 0; i < its.quotas.size(); ++i) {
                const Quota& quota = now->quotas[i];
                // A percentage stays, or is replaced by a number; numbers don't become percentages.
                RC_ASSERT(!quota.percent || quota.percent == its.quotas[i].percent);
                const auto max_inst = walk.node.find_gpu(quota.gpu)->settings.max_inst;
                if (quota.percent) RC_ASSERT(quota.weight * 100 == *quota.percent * max_inst);
            }
        }
        std::vector<Instance> instances;
        for (const auto& [id, instance] : walk.node.instances()) instances.push_back(instance);
        const auto restored =
            Node::restore(walk.node.generation(), walk.node.gpus(), instances, walk.node.kept());
        RC_ASSERT(restored.has_value());
        RC_ASSERT(*restored == walk.node);
    }
}

/// Every value that a refusal offers is accepted, and no other.
RC_GTEST_PROP(NodeProperty, MaxInstIsWhateverKeepsPercentagesAndFits, ()) {
    Node n = test::node({gpu(0, kTotalMib)});
    for (auto count = *rc::gen::inRange(0, 6); count > 0; --count) {
        const auto percent = *rc::gen::inRange(1U, 10U) * 5;
        const bool asks_so = *rc::gen::arbitrary<bool>();
        const auto its = asks_so ? quota_of_percent(0, 10, percent) : quota(0, 10, percent / 5);
        static_cast<void>(n.add_instance(instance(std::string(1, static_cast<char>('a' + count)), {its})));
    }
    const auto wanted = *rc::gen::inRange(1U, 26U);
    std::uint32_t sum = 0;
    bool whole = true;
    for (const auto& [instance, quota] : n.occupants_of(uuid(0))) {
        whole = whole && (!quota->percent || *quota->percent * wanted % 100 == 0);
        sum += quota->percent ? *quota->percent * wanted / 100 : quota->weight;
    }
    const bool fits = whole && sum <= wanted && n.occupants_of(uuid(0)).size() <= wanted;
    const auto done = n.set_max_inst(uuid(0), wanted);
    RC_ASSERT(done.has_value() == fits);
    if (!done) return;
    RC_ASSERT(n.used_weight(uuid(0)) == sum);
}

}  // namespace
}  // namespace cgpu::model
