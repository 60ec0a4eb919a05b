#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/admission/unmanaged.hpp"
#include "daemon/app/instances/service.hpp"

namespace cgpu::app {

/// A container that has GPUs, and asked for no part of one.
struct UnmanagedContainer {
    model::InstanceId id;
    std::string name;
    std::uint64_t created = 0;                       ///< seconds since 1970
    std::vector<model::Uuid> gpus;                   ///< that it names; empty: all
    bool whole = false;                              ///< it books them, as an instance with its id
    std::uint32_t owner = 0;                         ///< user id of its creator
    std::optional<model::Process> attached;          ///< its first process, once it is known
    std::map<model::Uuid, std::uint64_t> held = {};  ///< bytes, by the driver's figures
};

/// The containers that run on the node's GPUs without a limit, as far as cgpu-runtime made them; what becomes
/// of a new one is the configuration's decision. What they hold of a GPU is read from the driver every two
/// seconds while there are any, and isn't free for instances then (Node::set_held_unmanaged). Only in memory:
/// a restarted cgpud doesn't know them, except for the instances of those that book GPUs.
///
/// A user may name any own process for any number of containers, so a process counts once, for one of them,
/// and not at all if it belongs to an instance: there it is counted already.
class UnmanagedContainers {
  public:
    struct Outside {
        Loop& loop;
        Publisher& publisher;
        Links& links;
        Processes& processes;
        Gpus& gpus;
        Service& service;
        Events& events;
        std::function<std::uint64_t()> wall_clock;  ///< seconds since 1970
    };
    using All = std::map<model::InstanceId, UnmanagedContainer>;

    /// As many as one node can't have by running them; a caller without rights could register any number.
    static constexpr std::size_t kMost = 1024;
    /// Of a user who isn't root: nobody takes all of the places.
    static constexpr std::ptrdiff_t kMostOfAUser = 64;

    explicit UnmanagedContainers(const Outside& outside)
        : outside_(outside), admitted_(outside.loop, outside.events) {}
    UnmanagedContainers(const UnmanagedContainers&) = delete;
    UnmanagedContainers& operator=(const UnmanagedContainers&) = delete;

    void set_rule(admission::Unmanaged rule) { rule_ = rule; }

    /// Takes the container in, as the rule says; it ends with the caller's process unless another is attached
    /// before. `gpus`: any of their names; empty: all. Returns whether it books them. Refused: unsupported
    /// (by the rule), busy and as admission::book_whole(); invalid, exists (also: another user's), not_found,
    /// no_space.
    Result<bool> admit(std::string_view id, std::string_view name, const std::vector<std::string>& gpus,
                       const Caller& caller, Options options);
    /// Its first process. False: there is no such container, or it is another user's, or the caller may not
    /// attach this process (Service::attach refuses it).
    bool attach(std::string_view id, const model::Process& process, const Caller& caller);

    /// Asks the driver now what they hold, and calls back when it has answered for all GPUs, or has not.
    void look_now(const std::function<void()>& done);
    /// Whether there is such a container, and it is no instance.
    [[nodiscard]] bool has(std::string_view id) const;
    /// Whether the caller took it in itself, or there is none, and no process has been attached: afterwards
    /// no memory that is in use counts as free.
    [[nodiscard]] bool may_withdraw(std::string_view id, const Caller& caller) const;
    /// Forgets the container; its processes keep running. If there is none, there is nothing to do. Refused
    /// (not_permitted) by `own_only`.
    Result<void> release(std::string_view id, const Caller& caller, Options options);

    [[nodiscard]] const All& all() const { return all_; }

  private:
    Result<bool> try_to_admit(std::string_view id, std::string_view name,
                              const std::vector<std::string>& gpus, const Caller& caller, Options options);
    [[nodiscard]] Result<void> check_space(const model::InstanceId& id, const std::string& what,
                                           const Caller& caller) const;
    void watch_end(const model::InstanceId& id, const model::Process& process);
    void end(const model::InstanceId& id);
    [[nodiscard]] All::const_iterator find(std::string_view id) const;
    /// Whose the process is; null: no container's, or an instance's.
    [[nodiscard]] const UnmanagedContainer* holder_of(const model::Process& process) const;
    void look();
    void ask(std::function<void()> done);
    void seen(const model::Uuid& gpu, const std::vector<DriverProcess>& figures);
    void tell_service();

    Outside outside_;
    ComingAndGoing admitted_;
    admission::Unmanaged rule_ = admission::Unmanaged::allow;
    All all_;
    std::map<model::InstanceId, WatchPtr> ends_;
    WatchPtr next_look_;
    /// The driver may answer after this object's end.
    std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace cgpu::app
