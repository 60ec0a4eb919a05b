#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/unit/daemon/app/instances/service_bed.hpp"

namespace cgpu::app::test {

/// A service with one GPU of 16130 MiB, and callers that wait. Each has a process of its own.
class QueueTest : public ServiceTest {
  protected:
    QueueTest() {
        see_v100();
        publisher.said.clear();
    }

    /// One call of CreateInstance, as the bus carries it out.
    struct Call {
        std::string id;
        std::optional<Result<Created>> answer;  ///< empty: it isn't answered yet
    };
    /// A container's id is its name here. `wait`: CGPU_WAIT; empty: none.
    std::shared_ptr<Call> ask(const std::string& id, std::uint64_t mib, const std::string& wait = "forever",
                              std::uint32_t user = 0, const std::map<std::string, std::string>& more = {}) {
        auto made = std::make_shared<Call>(Call{id, std::nullopt});
        const auto pid = pid_of(id);
        processes.living.insert(pid);
        processes.users[pid] = user;
        Asked asked{id, id, {{"CGPU_MEM", std::to_string(mib) + "MiB"}}, {user, {pid, 7, "boot"}}, {}, {}};
        if (!wait.empty()) asked.variables.emplace("CGPU_WAIT", wait);
        asked.variables.insert(more.begin(), more.end());
        repeat(asked, made);
        return made;
    }
    void repeat(const Asked& asked, const std::shared_ptr<Call>& call) {
        service->before_creation(asked, [this, asked, call](const Result<void>& turn) {
            call->answer = turn ? service->create_instance(asked) : tl::unexpected(turn.error());
        });
    }
    std::int32_t pid_of(const std::string& id) {
        return pids.try_emplace(id, 1000 + static_cast<std::int32_t>(pids.size())).first->second;
    }
    /// Its process ends.
    void end(const std::string& id) {
        processes.kill(pid_of(id));
        loop.advance(1);
    }
    static bool waits(const std::shared_ptr<Call>& call) { return !call->answer; }
    static bool runs(const std::shared_ptr<Call>& call) { return call->answer && call->answer->has_value(); }
    static std::string refusal(const std::shared_ptr<Call>& call) {
        return call->answer && !*call->answer ? call->answer->error().text : "";
    }
    std::vector<std::string> queued() {
        std::vector<std::string> names;
        for (const auto& place : service->queue()->all()) names.push_back(place.request->instance.name);
        return names;
    }
    std::string waits_for(const std::string& id) {
        const auto place = service->queue()->place_of(*model::InstanceId::parse(id));
        return place ? place->waits_for : "";
    }

    std::map<std::string, std::int32_t> pids;
};

using Names = std::vector<std::string>;

}  // namespace cgpu::app::test
