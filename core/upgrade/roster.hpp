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

/// `1 instance`, `2 processes`
[[nodiscard]] std::string counted(std::size_t count, const std::string& what);

/// One front of a process that computes: a connection of the link. A process has one, or several where it has
/// loaded libcuda into several namespaces; each has an engine of its own.
struct Front {
    Version version;              ///< of the front's own file
    bool switches = false;        ///< it speaks a version of the link that has Switch
    std::optional<Version> runs;  ///< nothing: it hasn't said yet
    /// What it was told to go over to and hasn't answered yet, by request. It does one after the other, and
    /// of those that it hasn't begun only the last: an answer is one to all that was said before, too.
    std::map<std::uint64_t, Version> asked;
    std::string refused;   ///< why it couldn't: it isn't asked again. Empty: it is
    Nanos not_before = 0;  ///< it was busy, and is asked again then
};

/// What a front said of its engine.
struct Said {
    Who who;
    std::uint64_t front;
    std::uint64_t request;  ///< 0: nobody had asked
    wire::SwitchResult result;
    Version version;  ///< that runs now
    std::string detail;
};

/// Which engine runs in which process, as far as the fronts have said.
class Roster {
  public:
    struct Process {
        std::map<std::uint64_t, Front> fronts;  ///< none: it has not connected (again)
        bool interrupted = false;               ///< its connection broke when it was asked to go over

        /// All of it runs this version, and nothing else is on its way. A front that can't exchange its
        /// engine is left out: it has never left what it began with.
        [[nodiscard]] bool is_on(const Version& version) const;
        /// Every front that is not on this version has refused to go there.
        [[nodiscard]] bool has_refused(const Version& version) const;
    };
    using Processes = std::map<Who, Process>;

    [[nodiscard]] const Processes& all() const { return processes_; }
    [[nodiscard]] Processes& all() { return processes_; }
    [[nodiscard]] std::size_t count_on(const Version& version) const;
    [[nodiscard]] bool all_on(const Version& version) const { return count_on(version) == processes_.size(); }
    /// What runs in the processes of an instance; a process that hasn't said is left out.
    [[nodiscard]] std::map<std::int32_t, std::set<Version>> versions(const model::InstanceId& instance) const;

    /// It lives; nothing is known of what runs in it.
    void known(const Who& who) { processes_.try_emplace(who); }
    void connected(const Who& who, std::uint64_t front, const Version& version, bool switches);
    void lost(const Who& who, std::uint64_t front);
    /// Whether it had been asked to go over and had not answered.
    bool gone(const Who& who);
    /// A sentence where the front can't do what it was asked for. `retry_at`: when to ask a busy one again.
    std::optional<std::string> said(const Said& said, Nanos retry_at);
    /// Whoever has refused, or was busy, may be asked again.
    void forgive();

    /// Those not on the version, with what each is waited for; at most `most` of them by name.
    [[nodiscard]] std::string others_than(const Version& version, std::size_t most = 8) const;

  private:
    Processes processes_;
};

}  // namespace cgpu::upgrade
