#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/app/ends/ends.hpp"
#include "tests/unit/daemon/app/instances/service_bed.hpp"

namespace cgpu::app::test {

using Signalled = std::vector<std::pair<std::int32_t, Signal>>;

constexpr std::uint64_t kHour = 3600;

class EndsTest : public ServiceTest {
  protected:
    EndsTest() {
        see_v100();
        service->adopt();
        processes.living.insert({100, 200});
    }

    Result<Created> ask(const std::string& time, std::map<std::string, std::string> variables = {}) {
        variables["CGPU_MEM"] = "1GiB";
        if (!time.empty()) variables["CGPU_TIME"] = time;
        std::optional<Result<void>> ready;
        service->prepare(service->owner_of({"aaaa", "train", variables, caller}),
                         [&](const Result<void>& known) { ready = known; });
        if (!*ready) return tl::unexpected(ready->error());
        return service->create_instance({"aaaa", "train", variables, caller, {}});
    }
    /// With the first process 200.
    void run(const std::string& time) {
        const auto created = ask(time);
        ASSERT_TRUE(created) << created.error().text;
        ASSERT_TRUE(attach("aaaa", 200));
        begin_ = loop.now();
    }
    const model::TimeLimit& time() { return *service->node().find_instance(id_)->time; }
    Result<void> extend(std::uint64_t seconds, Options options = {}) {
        return service->extend(id_, seconds, options);
    }
    /// To so long after the admission.
    void go_to(std::uint64_t seconds) {
        const auto at = begin_ + static_cast<Nanos>(seconds) * kSecond;
        while (loop.now() < at) loop.advance(std::min<Nanos>(kSecond, at - loop.now()));
    }
    /// Of what was told of it: ends-soon and time-over.
    std::vector<std::string> told() {
        std::vector<std::string> all;
        for (const auto& event : recorded.all)
            if (event.type == EventType::ends_soon || event.type == EventType::time_over)
                all.emplace_back(kind_of(event.type).name);
        return all;
    }

    model::InstanceId id_ = *model::InstanceId::parse("aaaa");
    Nanos begin_ = 0;
};

}  // namespace cgpu::app::test
