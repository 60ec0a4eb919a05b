#include "core/model/instances.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "core/model/differences.hpp"

/// Copies of the instances share what they don't change, and are otherwise like those of a map.
namespace cgpu::model {
namespace {

static_assert(std::ranges::forward_range<Instances>);

InstanceId id_of(int number) { return *InstanceId::parse("i" + std::to_string(number)); }

Instance numbered(int number, std::string name = {}) {
    return {id_of(number), std::move(name), 0, 0, Mode::memory_compute, {}, std::nullopt};
}

TEST(Instances, ACopySharesAllButWhatIsChanged) {
    Instances one;
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(one.add(numbered(i)));
    EXPECT_FALSE(one.add(numbered(1, "another")));
    Instances other = one;
    const auto* before = one.find(id_of(1));
    other.own(id_of(1))->name = "changed";
    EXPECT_EQ(one.find(id_of(1)), before);
    EXPECT_EQ(before->name, "");
    EXPECT_EQ(other.find(id_of(1))->name, "changed");
    EXPECT_EQ(one.find(id_of(0)), other.find(id_of(0)));
    EXPECT_NE(one, other);
    const auto* own = other.find(id_of(1));
    other.own(id_of(1))->name = "";
    EXPECT_EQ(other.find(id_of(1)), own) << "it was no other's";
    EXPECT_EQ(one, other);
}

RC_GTEST_PROP(InstancesProperty, DifferencesAreWhatALookAtAllFinds, ()) {
    const auto change_some = [](Instances& instances) {
        for (int step = *rc::gen::inRange(0, 8); step > 0; --step) {
            const int number = *rc::gen::inRange(0, 12);
            switch (*rc::gen::inRange(0, 3)) {
                case 0:
                    instances.add(numbered(number));
                    break;
                case 1:
                    instances.remove(id_of(number));
                    break;
                default:
                    if (auto* own = instances.own(id_of(number))) own->name += "+";
            }
        }
    };
    Instances before;
    change_some(before);
    Instances now = *rc::gen::arbitrary<bool>() ? before : Instances();
    change_some(now);
    std::map<InstanceId, std::pair<const Instance*, const Instance*>> expected;
    for (int number = 0; number < 12; ++number) {
        const std::pair both{before.find(id_of(number)), now.find(id_of(number))};
        if (both.first != both.second) expected.emplace(id_of(number), both);
    }
    auto next = expected.begin();
    for_each_difference(before, now, [&](const Instance* then, const Instance* since) {
        RC_ASSERT(next != expected.end());
        RC_ASSERT(next->second.first == then);
        RC_ASSERT(next->second.second == since);
        ++next;
    });
    RC_ASSERT(next == expected.end());
}

RC_GTEST_PROP(InstancesProperty, AreLikeAMap, ()) {
    Instances instances;
    std::map<InstanceId, std::string> map;
    std::vector<std::pair<Instances, std::map<InstanceId, std::string>>> copies;
    for (int step = *rc::gen::inRange(0, 60); step > 0; --step) {
        const int number = *rc::gen::inRange(0, 12);
        const auto id = id_of(number);
        const auto name = std::to_string(step);
        switch (*rc::gen::inRange(0, 4)) {
            case 0:
                RC_ASSERT(instances.add(numbered(number, name)) == map.emplace(id, name).second);
                break;
            case 1:
                instances.remove(id);
                map.erase(id);
                break;
            case 2:
                if (auto* own = instances.own(id)) own->name = map.at(id) = name;
                break;
            default:
                copies.emplace_back(instances, map);
        }
    }
    copies.emplace_back(instances, map);
    for (const auto& [copy, names] : copies) {
        RC_ASSERT(copy.size() == names.size());
        auto expected = names.begin();
        for (const auto& [id, each] : copy) {
            RC_ASSERT(id == expected->first);
            RC_ASSERT(each.name == expected++->second);
            RC_ASSERT(copy.find(id) == &each);
            RC_ASSERT(copy.share(id).get() == &each);
        }
        for (int number = 0; number < 12; ++number) {
            const auto id = id_of(number);
            RC_ASSERT((copy.find(id) != nullptr) == names.contains(id));
            const auto next = names.lower_bound(id);
            const auto found = copy.lower_bound(id);
            RC_ASSERT((found == copy.end()) == (next == names.end()));
            if (next != names.end()) RC_ASSERT(found->first == next->first);
        }
    }
}

}  // namespace
}  // namespace cgpu::model
