#pragma once

#include <functional>
#include <memory>

#include "client/node/node.hpp"
#include "core/model/nanos.hpp"

namespace sdbus {
class IConnection;
}

namespace cgpu::client {

/// The daemon's node on the system bus. Connects at the first call; DBUS_SYSTEM_BUS_ADDRESS names another
/// bus.
class BusNode final : public Node {
  public:
    /// `interactive`: the user may be asked for a password, and may take time to type it.
    /// `host`: of another machine (check_host), whose bus is reached over ssh; empty: this one.
    /// `patient`: it waits until the bus takes one more connection of this user.
    explicit BusNode(bool interactive = false, std::string host = {}, bool patient = true);
    ~BusNode() override;

    Result<Snapshot> read() override;
    Result<std::vector<Gpu>> read_gpus() override;
    Result<ServiceState> service() override;
    Result<Examination> examine() override;
    Result<view::Limits> limits(const std::string& user) override;
    Result<std::string> find_gpu(const std::string& gpu) override;
    Result<std::string> find_instance(const std::string& instance) override;
    Result<std::vector<ConfigurationValue>> configuration() override;
    Result<void> set_default_memory(std::optional<std::uint64_t> bytes, const Making& how) override;
    Result<std::uint64_t> apply(const std::vector<Change>& changes, const Making& how) override;
    Result<std::string> describe() override;
    Result<std::vector<std::byte>> read_history() override;
    Result<std::vector<std::byte>> read_days() override;
    Result<int> start_trace(const std::string& gpu, std::uint32_t seconds) override;
    Result<void> forget(const std::string& name, std::optional<std::uint32_t> owner,
                        const Making& how) override;
    Result<Created> create_instance(const NewInstance& wanted) override;
    Result<QueuePlace> queue_place(const std::string& id) override;
    Result<bool> admit_unmanaged(const std::string& id, const std::string& name,
                                 const std::vector<std::string>& gpus) override;
    Result<void> attach(const std::string& id, std::uint32_t pid) override;
    Result<void> release_instance(const std::string& id) override;
    Result<void> rename(const std::string& id, const std::string& name, const Making& how) override;
    Result<void> extend(const std::string& instance, std::uint64_t seconds, const Making& how) override;
    Result<std::vector<std::uint32_t>> stop(const std::string& id, std::uint32_t grace,
                                            bool dry_run) override;
    Result<void> enter_scope(const Scope& scope) override;
    Result<std::string> begin_upgrade(const Upgrade& wanted) override;
    Result<std::string> begin_mode(const ModeSwitch& wanted) override;
    Result<Job> read_job(const std::string& path) override;
    Result<std::unique_ptr<JobWatch>> watch_job(const std::string& path) override;
    Result<std::unique_ptr<Watch>> watch_instances() override;
    Result<void> cancel_job(const std::string& path) override;

  private:
    struct Bus;
    Bus& bus();
    [[nodiscard]] std::unique_ptr<sdbus::IConnection> connect() const;
    Result<Created> create_waiting(const std::string& id, model::Nanos wait,
                                   const std::function<Created()>& create);

    bool interactive_;
    std::string host_;
    bool patient_;  ///< waits for room on the bus
    std::unique_ptr<Bus> bus_;
};

}  // namespace cgpu::client
