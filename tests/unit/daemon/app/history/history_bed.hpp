#pragma once

#include <gtest/gtest.h>

#include <utility>

#include "daemon/app/history/history.hpp"
#include "tests/unit/daemon/app/instances/service_bed.hpp"

namespace cgpu::app::test {
class KeptRecords final : public HistoryStore {
  public:
    std::vector<history::Record> take_found() override { return found; }
    void append(std::span<history::Record> records) override {
        for (auto& record : records) {
            ++writes;
            const bool is_new = record.number == 0;
            if (is_new) record.number = ++last;
            const auto place =
                is_new ? all.end() : std::ranges::find(all, record.number, &history::Record::number);
            if (place == all.end())
                all.push_back(record);
            else
                *place = record;
        }
    }
    void sync() override { ++syncs; }
    Result<int> open_for_reading() override {
        return model::refuse(model::Refusal::Reason::unsupported, "history", "there is no file", "nothing");
    }
    std::vector<history::Record> found;
    std::vector<history::Record> all;
    std::uint64_t last = 0;
    int writes = 0;
    int syncs = 0;
};

class SetUsage final : public UsageSource {
  public:
    std::vector<model::Uuid> foreign_gpus(const model::InstanceId&) const override { return {}; }
    InstanceUsage usage(const model::InstanceId& id, const model::Uuid&) const override {
        const auto found = of.find(id);
        return found == of.end() ? InstanceUsage{} : found->second;
    }
    std::uint64_t take_memory_peak(const model::InstanceId& id, const model::Uuid&) override {
        return std::exchange(peaks[id], of[id].memory_used);
    }
    std::map<model::InstanceId, InstanceUsage> of;
    std::map<model::InstanceId, std::uint64_t> peaks;
};

/// What forgets an instance as soon as it is told that it is gone.
class ForgettingCompute final : public NodeFollower {
  public:
    explicit ForgettingCompute(SetUsage& usage) : usage_(usage) {}
    void update(const model::Node& node) override {
        std::erase_if(usage_.of, [&](const auto& item) { return node.find_instance(item.first) == nullptr; });
    }

  private:
    SetUsage& usage_;
};

class HistoryTest : public ServiceTest {
  protected:
    static constexpr std::uint64_t kMinuteUs = 60'000'000;
    static constexpr std::uint64_t kDayUs = 1440 * kMinuteUs;

    HistoryTest() {
        see_v100();
        update();
    }

    model::InstanceId add(const char* id) {
        wall_clock = wall_us_ / 1'000'000;
        EXPECT_TRUE(create(id, "4"));
        auto parsed = *model::InstanceId::parse(id);
        usage_.of[parsed].target_share = 0.5;
        update();
        return parsed;
    }
    /// As a change of the node is told.
    void update() {
        history_.update(service->node());
        compute_.update(service->node());
    }
    void pass(Nanos time) {
        loop.advance(time);
        wall_us_ += static_cast<std::uint64_t>(time / kMicro);
    }
    /// As cgpud looks for the GPUs.
    void pass_with_looks(Nanos time) {
        for (; time > 0; time -= History::kLookEvery) {
            pass(History::kLookEvery);
            history_.tick();
        }
    }
    InstanceUsage& of(const model::InstanceId& id) { return usage_.of[id]; }

    SetUsage usage_;
    KeptRecords kept_;
    KeptRecords days_;
    ForgettingCompute compute_{usage_};
    std::uint64_t wall_us_ = 1000 * kMinuteUs;
    static std::uint64_t day_begin(std::uint64_t us) { return us / kDayUs * kDayUs; }
    History::Outside outside() {
        return {loop, usage_, kept_, days_, [this] { return wall_us_; }, day_begin};
    }
    History history_{outside(), 60 * kSecond};
};

}  // namespace cgpu::app::test
