#pragma once

#include <memory>
#include <vector>

#include "daemon/link/instance/descriptor_budget.hpp"
#include "daemon/link/instance/driver_exchange.hpp"
#include "daemon/link/instance/instance_folder.hpp"
#include "daemon/link/instance/instance_loop.hpp"
#include "daemon/link/instance/memory_asks.hpp"
#include "daemon/link/instance/notice_log.hpp"
#include "daemon/link/instance/notices.hpp"
#include "daemon/link/instance/peers.hpp"
#include "daemon/link/socket/connection.hpp"
#include "daemon/link/socket/listener.hpp"

namespace cgpu::link {

/// The link of one instance: its socket, its doorbell, its processes and their connections.
class InstanceLink final : public ConnectionOwner {
  public:
    /// Refused (storage): a folder, socket or page couldn't be created. References outlive the link.
    /// `folder`: the instance's.
    static app::Result<std::unique_ptr<InstanceLink>> open(const model::Instance& instance,
                                                           const std::filesystem::path& folder,
                                                           const Outside& outside, const Settings& settings,
                                                           DescriptorBudget& descriptors, Told& told);
    ~InstanceLink() override;

    /// The folder that processes mount: the socket is in it.
    [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
    /// Lets this user's processes mount the folder. Refused (storage).
    app::Result<void> let_in(uid_t user) { return instance_folder_.let_in(user); }
    [[nodiscard]] app::InstanceKey key() const { return app::key_of(instance_); }
    /// Whether no process computes or holds memory.
    [[nodiscard]] bool empty() const { return peers_.all().empty(); }
    /// Looks for the oldest of its living processes: one for which has_member() holds.
    [[nodiscard]] app::WatchPtr find_member(std::vector<model::Process> others, app::FoundProcess call) const;
    [[nodiscard]] bool has_member(const model::Process& process, const app::ProcessLook& look) const;
    void refresh(const model::Instance& instance);

    /// Empty before the first report.
    [[nodiscard]] std::optional<app::LeaseReport> report(const model::Process& process,
                                                         const model::Uuid& gpu) const;
    bool recall(const model::Process& process, const model::Uuid& gpu, std::uint64_t bytes);
    /// Takes in a process that holds memory and never connected. False: it doesn't belong to the instance.
    bool take_in(const model::Process& process, const app::ProcessLook& look, const model::Uuid& gpu);
    /// Tells of a process that has fronts and can't reach the link. False: it doesn't belong to the instance.
    bool take_cut_off(const model::Process& process, const app::ProcessLook& look);
    /// Tells a front to change to another engine.
    void switch_engine(const upgrade::Switch& order, const std::string& engine);
    /// Call when the instance has ended: reports the end of each of its processes to the EngineWatch.
    void forget_engines();
    /// Call when the instance has ended: its socket and the driver's libraries are no longer kept for a later
    /// daemon.
    void forget_descriptors();
    /// Leases and processes changed: calls Outside::on_idle if none is left.
    void tell_if_idle();

    void packet(Connection& connection, std::span<const std::byte> packet) override;
    void dropped(Connection& connection) override;

  private:
    InstanceLink(const model::Instance& instance, InstanceFolder instance_folder,
                 std::filesystem::path folder, std::shared_ptr<DoorbellPage> doorbell, const Outside& outside,
                 const Settings& settings, DescriptorBudget& descriptors, Told& told);
    void start(std::unique_ptr<Listener> listener);

    void accepted(int fd);
    [[nodiscard]] bool room_for_another();
    /// It was found to be a member before.
    [[nodiscard]] bool is_known(const model::Process& process) const {
        return peers_.find(process) != nullptr;
    }
    /// The cgroup that was made for it, if any.
    [[nodiscard]] bool shares_cgroup(const model::Process& process, const app::ProcessLook& look) const;
    [[nodiscard]] std::string own_cgroup() const;
    void hello(Connection& connection, const wire::Hello& hello);
    void welcome_observer(Connection& connection, std::uint32_t version);
    void welcome_computer(Connection& connection, std::uint32_t version, std::uint32_t front_version);
    [[nodiscard]] wire::Welcome welcome_message(std::uint32_t version) const;

    [[nodiscard]] upgrade::Who who(const model::Process& process) const { return {instance_.id, process}; }
    void switched(Connection& connection, const wire::Switched& switched);
    void give(Connection& connection, const wire::Give& give);
    void notice(Connection& connection, const wire::Notice& notice);
    void malformed(Connection& connection, const char* what);
    void process_ended(const model::Process& process);

    [[nodiscard]] std::optional<std::uint32_t> index_of(const model::Uuid& gpu) const;

    model::Instance instance_;
    InstanceFolder instance_folder_;
    std::filesystem::path folder_;
    std::string cgroup_;  ///< own_cgroup(); "": none
    const Outside& outside_;
    const Settings& settings_;
    NoticeLog log_;
    Notices notices_;
    std::shared_ptr<DoorbellPage> doorbell_;
    DescriptorBudget::Share descriptors_;
    InstanceLoop loop_;  ///< declared before the members that it watches
    std::unique_ptr<Listener> listener_;
    DriverExchange driver_;
    MemoryAsks asks_;
    Peers peers_;
    std::vector<std::shared_ptr<Connection>> connections_;
    std::uint64_t last_connection_ = 0;
    std::shared_ptr<int> alive_ = std::make_shared<int>(0);  ///< posted calls may run after this object's end
};

}  // namespace cgpu::link
