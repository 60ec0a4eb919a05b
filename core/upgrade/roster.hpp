#pragma once

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/model/instance.hpp"
#include "core/upgrade/job.hpp"
#include "core/wire/message.hpp"

namespace cgpu::upgrade {

/// One process of an instance.
struct Who {
    model::InstanceId instance;
    model::Process process;

    friend bool operator==(const Who&, const Who&) = default;
    friend bool operator<(const Who& a, const Who& b);
};
/// `process 4711 of instance web`
[[nodiscard]] std::string name_of(const Who& who);

/// One front of a computing process: a connection of the link. A process has one, or several if it has loaded
/// libcuda into several namespaces; each has an engine of its own.
struct Front {
    Version version;              ///< of the front's own file
    std::optional<Version> runs;  ///< empty: it hasn't reported it yet
    /// The versions that it was told to change to and hasn't answered yet, by request. It carries out one
    /// after the other, and only the last of those that it hasn't begun: so an answer also answers all
    /// earlier requests.
    std::map<std::uint64_t, Version> asked;
    std::string refused;   ///< why it couldn't; then it isn't asked again
    Nanos not_before = 0;  ///< it was busy; when to ask it again
};

/// What a front reported of its engine.
struct Said {
    Who who;
    std::uint64_t front;
    std::uint64_t request;  ///< 0: it was not asked
    wire::SwitchResult result;
    Version version;  ///< that runs now
    std::string detail;
};

/// Which engine runs in which process, as far as the fronts have reported it.
class Roster {
  public:
    struct Process {
        std::map<std::uint64_t, Front> fronts;  ///< none: it has not connected (again)
        bool interrupted = false;               ///< its connection broke while it was asked to change

        /// All of it runs this version, and no other change is under way.
        [[nodiscard]] bool is_on(const Version& version) const;
        /// Every front that is not on this version has refused to change to it.
        [[nodiscard]] bool has_refused(const Version& version) const;
    };
    using Processes = std::map<Who, Process>;

    [[nodiscard]] const Processes& all() const { return processes_; }
    [[nodiscard]] Processes& all() { return processes_; }
    [[nodiscard]] std::size_t count_on(const Version& version) const;
    [[nodiscard]] bool all_on(const Version& version) const { return count_on(version) == processes_.size(); }
    /// The versions that the processes of an instance run; a process that hasn't reported is left out.
    [[nodiscard]] std::map<std::int32_t, std::set<Version>> versions(const model::InstanceId& instance) const;

    /// The process is alive; what runs in it is unknown.
    void known(const Who& who) { processes_.try_emplace(who); }
    void connected(const Who& who, std::uint64_t front, const Version& version);
    void lost(const Who& who, std::uint64_t front);
    /// Whether it had been asked to change and had not answered.
    bool gone(const Who& who);
    /// A sentence if the front can't do what it was asked for. `retry_at`: when to ask a busy front again.
    std::optional<std::string> said(const Said& said, Nanos retry_at);
    /// Fronts that have refused, or were busy, may be asked again.
    void forgive();

    /// The processes that are not on the version, each with what it is waited for; at most `most` of them by
    /// name.
    [[nodiscard]] std::string others_than(const Version& version, std::size_t most = 8) const;

  private:
    Processes processes_;
};

}  // namespace cgpu::upgrade
