#pragma once

#include <map>
#include <memory>
#include <vector>

#include "daemon/link/instance/instance_link.hpp"

namespace cgpu::link {

/// Implements app::Links with real sockets, and gives the leases and the upgrader access to the processes.
/// Used by the event-loop thread only.
class Server final : public app::Links, public app::LeasePeers, public app::EngineControl {
  public:
    /// Connects itself to `outside.leases` and `outside.engines` until its end.
    Server(Outside outside, Settings settings);
    ~Server() override;
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    app::Result<std::string> open(const model::Instance& instance) override;
    void close(const model::InstanceId& id) override;
    void refresh(const model::Instance& instance) override;
    app::Result<void> let_in(const model::InstanceId& id, std::uint32_t user) override;
    [[nodiscard]] app::WatchPtr find_member(const model::InstanceId& id, std::vector<model::Process> others,
                                            app::FoundProcess call) const override;
    [[nodiscard]] bool has_member(std::int32_t pid) const override;
    [[nodiscard]] bool idle(const model::InstanceId& id) const override;

    /// Removes the folders of all other instances, unless a process has one mounted: then the job would never
    /// find cgpud again, and a later daemon may know it. Call once at start, after open() of the living ones.
    void forget_unknown(const std::vector<model::InstanceId>& known);

    /// A process, of any instance or of none, has fronts and can't reach the link.
    void cut_off(std::int32_t pid);

    [[nodiscard]] std::optional<app::LeaseReport> report(const app::LeaseKey& key) const override;
    bool recall(const app::LeaseKey& key, std::uint64_t bytes) override;
    void stranger(const model::Uuid& gpu, std::int32_t pid) override;
    void memory_gone(const app::InstanceKey& instance) override;

    void switch_engine(const upgrade::Switch& order, const std::string& engine) override;

  private:
    [[nodiscard]] InstanceLink* find(const app::InstanceKey& key) const;
    [[nodiscard]] std::filesystem::path instances_folder() const;
    void remove_unless_seen(const std::filesystem::path& folder);

    Outside outside_;
    Settings settings_;
    DescriptorBudget descriptors_;
    Told told_;
    std::map<model::InstanceId, std::unique_ptr<InstanceLink>> links_;
    std::map<std::filesystem::path, app::WatchPtr> searches_;  ///< for who has an unknown folder mounted
};

}  // namespace cgpu::link
