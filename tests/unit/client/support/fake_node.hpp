#pragma once

#include <poll.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "client/cgpuctl/output/terminal.hpp"
#include "client/node/node.hpp"
#include "core/model/instance_word.hpp"

namespace cgpu::cgpuctl {

constexpr std::uint64_t kMib = std::uint64_t{1} << 20;
constexpr const char* kUuid0 = "GPU-00000000-0000-0000-0000-000000000000";
constexpr const char* kUuid1 = "GPU-11111111-1111-1111-1111-111111111111";
constexpr const char* kWebId = "0123456789abcdef0123456789abcdef";

/// Two GPUs, with an instance `web` on the first.
inline client::Snapshot two_gpus() {
    client::Snapshot snapshot;
    snapshot.version = "1.2.3";
    snapshot.module_version = "1.2.0";
    snapshot.mode = "memory+compute";
    client::Gpu gpu;
    gpu.uuid = kUuid0;
    gpu.model = "Tesla V100-SXM2-16GB";
    gpu.memory_total = 16130 * kMib;
    gpu.memory_allocated = 4301 * kMib;
    gpu.memory_used = 200 * kMib;
    gpu.policy = 2;
    gpu.policy_name = "weighted";
    gpu.max_inst = 20;
    gpu.free_weight = 18;
    gpu.prio_ratio = 80;
    gpu.mode = "memory+compute";
    snapshot.gpus.push_back(gpu);
    gpu.uuid = kUuid1;
    gpu.index = 1;
    gpu.memory_allocated = gpu.memory_used = 0;
    gpu.free_weight = 20;
    snapshot.gpus.push_back(gpu);

    client::Usage usage;
    usage.memory_used = 200 * kMib;
    usage.memory_leased = 256 * kMib;
    usage.gpu_time = 1'500'000'000;
    usage.waited = 20'000'000;
    usage.longest_kernel = 4'100'000;
    usage.launches = 77;
    usage.preemptions = 5;
    usage.target_share = 1;
    usage.achieved_share = 0.333;
    usage.processes = {4711, 4712};
    snapshot.instances.push_back(
        {kWebId, "web", "running", 1700000000, 4711, {{{kUuid0, 0, 4301 * kMib, 2, false}, usage}}, "1.2.0"});
    return snapshot;
}

/// Answers from a snapshot and records the requested changes.
class FakeNode : public client::Node {
  public:
    client::Snapshot snapshot = two_gpus();
    std::vector<std::string> calls;
    client::Result<void> answer;
    std::map<std::string, client::ClientError> refusals;        ///< by call
    client::Result<client::Created> grant = client::Created{};  ///< the answer of create_instance

    std::function<void(client::Snapshot&)> before_reading;
    int readings = 0;  ///< of the whole node
    client::Result<client::Snapshot> read() override {
        ++readings;
        if (before_reading) before_reading(snapshot);
        if (!answer) return tl::unexpected(answer.error());
        return snapshot;
    }
    client::Result<std::vector<client::Gpu>> read_gpus() override {
        if (before_reading) before_reading(snapshot);
        if (!answer) return tl::unexpected(answer.error());
        return snapshot.gpus;
    }
    view::Limits limits_of_user;
    client::Result<view::Limits> limits(const std::string& user) override {
        calls.push_back("limits " + user);
        if (!answer) return tl::unexpected(answer.error());
        return limits_of_user;
    }
    client::ServiceState service_state{true, 0, "active", "", ""};
    client::Result<client::ServiceState> service() override { return service_state; }
    client::Examination examination;
    client::Result<client::Examination> examine() override {
        if (!answer) return tl::unexpected(answer.error());
        return examination;
    }
    client::Result<std::string> find_gpu(const std::string& gpu) override {
        if (!answer) return tl::unexpected(answer.error());
        for (const client::Gpu& each : snapshot.gpus)
            if (each.uuid == gpu || std::to_string(each.index) == gpu) return each.uuid;
        return not_found("GPU " + gpu);
    }
    client::Result<std::string> find_instance(const std::string& instance) override {
        std::vector<model::Named> named;
        named.reserve(snapshot.instances.size());
        for (const client::Instance& each : snapshot.instances)
            named.push_back({each.id, each.name, each.owner});
        const auto meant = model::meant_by(instance, named);
        if (meant.size() == 1) return snapshot.instances[meant.front()].id;
        return not_found(instance);
    }
    std::vector<client::ConfigurationValue> values;  ///< the answer of configuration()
    client::Result<std::vector<client::ConfigurationValue>> configuration() override {
        if (!answer) return tl::unexpected(answer.error());
        return values;
    }
    client::Result<void> set_default_memory(std::optional<std::uint64_t> bytes,
                                            const client::Making& how) override {
        return note_making("set_default_memory " + (bytes ? std::to_string(*bytes) : "as configured"), how);
    }
    std::vector<client::Change> applied;
    /// The call: `web [1] weight 4; GPU 0 policy 2 persist`.
    client::Result<std::uint64_t> apply(const std::vector<client::Change>& changes,
                                        const client::Making& how) override {
        std::string call;
        for (const client::Change& change : changes) call += (call.empty() ? "" : "; ") + text_of(change);
        if (const auto noted = note_making(call, how); !noted) return tl::unexpected(noted.error());
        applied = changes;
        return 43;
    }
    std::string description = "{}";  ///< the answer of describe()
    client::Result<std::string> describe() override {
        if (!answer) return tl::unexpected(answer.error());
        return description;
    }
    client::Result<std::vector<std::byte>> history_file;  ///< the answer of read_history()
    client::Result<std::vector<std::byte>> read_history() override { return history_file; }
    std::vector<std::byte> days_file;  ///< the answer of read_days()
    client::Result<std::vector<std::byte>> read_days() override { return days_file; }
    int trace_socket = -1;  ///< the answer of start_trace()
    client::Result<int> start_trace(const std::string& gpu, std::uint32_t seconds) override {
        const auto noted = note("start_trace " + gpu + " " + std::to_string(seconds), false);
        if (!noted) return tl::unexpected(noted.error());
        return trace_socket;
    }
    client::Result<void> forget(const std::string& name, std::optional<std::uint32_t> owner,
                                const client::Making& how) override {
        return note_making("forget " + name + (owner ? " of " + std::to_string(*owner) : ""), how);
    }
    std::optional<client::HeldPart> held;  ///< of the last create_instance
    client::Result<client::Created> create_instance(const client::NewInstance& wanted) override {
        held = wanted.held;
        calls.push_back("create_instance " + wanted.id + " " + wanted.name +
                        (wanted.image.empty() ? "" : " of " + wanted.image));
        return grant;
    }
    client::Result<client::QueuePlace> place = client::QueuePlace{};  ///< the answer of queue_place
    client::Result<client::QueuePlace> queue_place(const std::string& /*id*/) override { return place; }
    client::Result<bool> admitted = false;  ///< the answer of admit_unmanaged
    client::Result<bool> admit_unmanaged(const std::string& id, const std::string& name,
                                         const std::vector<std::string>& gpus) override {
        std::string call = "admit_unmanaged " + id + " " + name;
        for (const std::string& gpu : gpus) call += " " + gpu;
        calls.push_back(call);
        return admitted;
    }
    client::Result<void> enter_scope(const client::Scope& scope) override {
        return note("enter-scope " + scope.unit, false);
    }
    client::Result<void> attach(const std::string& id, std::uint32_t) override {
        return note("attach " + id, false);
    }
    client::Result<void> extend(const std::string& instance, std::uint64_t seconds,
                                const client::Making& how) override {
        return note_making("extend " + instance + " " + std::to_string(seconds), how);
    }
    client::Result<void> rename(const std::string& id, const std::string& name,
                                const client::Making& how) override {
        return note_making("rename " + id + " " + name, how);
    }
    client::Result<std::vector<std::uint32_t>> stop(const std::string& id, std::uint32_t grace,
                                                    bool dry_run) override {
        if (auto noted = note("stop " + id + " " + std::to_string(grace), dry_run); !noted)
            return tl::unexpected(noted.error());
        return std::vector<std::uint32_t>{4711};
    }
    client::Result<void> release_instance(const std::string& id) override {
        return note("release_instance " + id, false);
    }

    std::vector<client::Result<client::Job>> jobs;  ///< the answers of read_job, the last one again and again
    client::Result<std::string> begin_upgrade(const client::Upgrade& wanted) override {
        if (!answer) return tl::unexpected(answer.error());
        calls.push_back(std::string(wanted.hot ? "hot " : "cold ") + wanted.version +
                        (wanted.drain ? " drain" : "") +
                        (wanted.timeout_s ? " " + std::to_string(*wanted.timeout_s) + " s" : "") +
                        (wanted.dry_run ? " dry-run" : ""));
        return wanted.dry_run ? "/" : "/org/cgpu1/job/3";
    }
    client::Result<std::string> begin_mode(const client::ModeSwitch& wanted) override {
        if (!answer) return tl::unexpected(answer.error());
        calls.push_back("mode " + wanted.mode + (wanted.drain ? " drain" : "") +
                        (wanted.runtime ? " runtime" : "") +
                        (wanted.timeout_s ? " " + std::to_string(*wanted.timeout_s) + " s" : "") +
                        (wanted.dry_run ? " dry-run" : ""));
        return wanted.dry_run ? "/" : "/org/cgpu1/job/3";
    }
    client::Result<client::Job> read_job(const std::string&) override {
        auto job = jobs.front();
        if (jobs.size() > 1) jobs.erase(jobs.begin());
        return job;
    }
    std::optional<std::string> told_result;  ///< of JobRemoved
    client::Result<std::unique_ptr<client::JobWatch>> watch_job(const std::string& path) override {
        calls.push_back("watch " + path);
        return std::make_unique<FakeWatch>(*this);
    }
    /// Called where a client would sleep, with the time; empty: without an end.
    std::function<void(client::Snapshot&, std::optional<std::chrono::milliseconds>)> while_waiting;
    client::Result<std::unique_ptr<client::Watch>> watch_instances() override {
        return std::make_unique<FakeInstanceWatch>(*this);
    }
    client::Result<void> cancel_job(const std::string& path) override {
        return note("cancel " + path, false);
    }

  private:
    /// There is always a change, but an interrupt comes first.
    struct FakeWatch final : client::JobWatch {
        explicit FakeWatch(const FakeNode& owner) : node(owner) {}
        Woke wait(int interrupt, std::optional<std::chrono::milliseconds>) override {
            pollfd file{interrupt, POLLIN, 0};
            return poll(&file, 1, 0) > 0 ? Woke::interrupted : Woke::changed;
        }
        [[nodiscard]] std::optional<std::string> result() const override { return node.told_result; }
        const FakeNode& node;
    };

    struct FakeInstanceWatch final : client::Watch {
        explicit FakeInstanceWatch(FakeNode& owner) : node(owner) {}
        Woke wait(int interrupt, std::optional<std::chrono::milliseconds> most) override {
            if (node.while_waiting) node.while_waiting(node.snapshot, most);
            pollfd file{interrupt, POLLIN, 0};
            return poll(&file, 1, 0) > 0 ? Woke::interrupted : Woke::changed;
        }
        FakeNode& node;
    };

    static std::string text_of(const client::Change& change) {
        std::string text =
            change.instance.empty() ? "GPU " + change.gpu : change.instance + " [" + change.gpu + "]";
        const auto add = [&text](const char* key, const auto& value) {
            if (value) text += key + std::to_string(*value);
        };
        if (change.policy) text += " policy " + *change.policy;
        add(" max_inst ", change.max_inst);
        add(" prio_ratio ", change.prio_ratio);
        add(" memory ", change.memory_limit);
        add(" weight ", change.weight);
        add(" percent ", change.percent);
        if (change.high_priority) text += *change.high_priority ? " high" : " normal";
        if (change.drained) text += *change.drained ? " drained" : " undrained";
        if (change.paused) text += *change.paused ? " paused" : " resumed";
        if (change.revert) text += " revert";
        return text;
    }
    client::Result<void> note_making(const std::string& call, const client::Making& how) {
        return note(call + (how.runtime ? " runtime" : "") +
                        (how.if_generation ? " to " + std::to_string(*how.if_generation) : "") +
                        (how.force ? " force" : "") + (how.persist ? " persist" : ""),
                    how.dry_run);
    }
    client::Result<void> note(const std::string& call, bool dry_run) {
        calls.push_back(call + (dry_run ? " dry-run" : ""));
        if (const auto refusal = refusals.find(calls.back()); refusal != refusals.end())
            return tl::unexpected(refusal->second);
        return answer;
    }
    static tl::unexpected<client::ClientError> not_found(const std::string& what) {
        return client::fail(client::ClientError::Kind::not_found, what + ": it is not there. Try: another.");
    }
};

/// A terminal whose output can be read.
struct Screen {
    std::ostringstream out;
    std::ostringstream err;

    Terminal terminal(Terminal::Style style = {}) { return {out, err, style}; }
};

}  // namespace cgpu::cgpuctl
