#pragma once

#include <poll.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "daemon/app/instances/service.hpp"

/// Minimal fakes of everything outside the service.
namespace cgpu::app::test {

class NoWatch final : public Watch {};

/// Time doesn't advance until a test advances it.
class FakeLoop final : public Loop {
  public:
    WatchPtr watch(int fd, std::uint32_t events, std::function<void(std::uint32_t)> call) override {
        if (refuses_watches) throw std::system_error(std::make_error_code(std::errc::no_space_on_device));
        const auto key = ++last_timer_;
        watched_[key] = {fd, events, std::move(call)};
        return std::make_unique<Descriptor>(*this, key);
    }
    WatchPtr watch_asking(int, std::function<Wanted()>, std::function<void()>) override {
        return std::make_unique<NoWatch>();
    }
    WatchPtr at(Nanos when, std::function<void()> call) override {
        const auto key = ++last_timer_;
        timers_[key] = {when, std::move(call)};
        return std::make_unique<Timer>(*this, key);
    }
    void post(std::function<void()> call) override { call(); }
    Nanos now() const override { return now_; }

    bool refuses_watches = false;  ///< as a kernel without memory for another one
    /// Calls back for the watched descriptors that are ready, each once, after waiting for one (10 s at
    /// most).
    void look() {
        std::vector<pollfd> all;
        std::vector<int> keys;
        for (const auto& [key, watched] : watched_) {
            all.push_back({watched.fd, static_cast<short>(watched.events), 0});
            keys.push_back(key);
        }
        poll(all.data(), all.size(), 10'000);
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto found = watched_.find(keys[i]);
            if (all[i].revents == 0 || found == watched_.end()) continue;
            const auto call = found->second.call;
            call(static_cast<std::uint32_t>(all[i].revents));
        }
    }

    void advance(Nanos by) {
        now_ += by;
        for (bool fired = true; fired;) {
            fired = false;
            for (const auto& [key, timer] : timers_) {
                if (timer.first > now_) continue;
                const auto call = timer.second;
                timers_.erase(key);
                call();
                fired = true;
                break;
            }
        }
    }

  private:
    struct Timer final : Watch {
        Timer(FakeLoop& owner, int its_key) : loop(owner), key(its_key) {}
        ~Timer() override { loop.timers_.erase(key); }
        FakeLoop& loop;
        int key;
    };
    struct Descriptor final : Watch {
        Descriptor(FakeLoop& owner, int its_key) : loop(owner), key(its_key) {}
        ~Descriptor() override { loop.watched_.erase(key); }
        FakeLoop& loop;
        int key;
    };
    struct Watched {
        int fd;
        std::uint32_t events;
        std::function<void(std::uint32_t)> call;
    };
    Nanos now_ = 1'000'000'000;
    int last_timer_ = 0;  ///< or watch of a descriptor
    std::map<int, Watched> watched_;
    std::map<int, std::pair<Nanos, std::function<void()>>> timers_;
};

/// A name service with these users; it answers when it is told to.
class FakePeople final : public People {
  public:
    void look_up(const PersonWord& who, Found found) override {
        ++asked;
        open.emplace_back(who, std::move(found));
        if (answers) answer();
    }
    void answer() {
        for (auto& [who, found] : std::exchange(open, {})) {
            if (broken) {
                found(model::refuse(model::Refusal::Reason::unsupported, "a user",
                                    "the name service doesn't answer", "getent passwd"));
                continue;
            }
            Person person;
            if (const auto* id = std::get_if<std::uint32_t>(&who)) person.user = *id;
            for (const Person& each : known)
                if (who == PersonWord(each.user.value_or(0)) || who == PersonWord(each.name)) person = each;
            found(person);
        }
    }
    std::vector<Person> known;
    std::vector<std::pair<PersonWord, Found>> open;
    bool answers = true;
    bool broken = false;
    int asked = 0;
};

class FakeStore final : public Store {
  public:
    Result<void> save(const model::Node& node) override {
        if (full)
            return model::refuse(model::Refusal::Reason::storage, "state.json", "no space left on device",
                                 "free some space");
        saved = node;
        ++saves;
        return {};
    }
    bool full = false;
    int saves = 0;
    model::Node saved;
};

class FakeQueueStore final : public QueueStore {
  public:
    void add(const QueuedRequest& request) override { all.insert_or_assign(request.id().str(), request); }
    void remove(const model::InstanceId& id) override { all.erase(id.str()); }
    [[nodiscard]] std::vector<QueuedRequest> left() const {
        std::vector<QueuedRequest> requests;
        for (const auto& [id, request] : all) requests.push_back(request);
        return requests;
    }
    std::map<std::string, QueuedRequest> all;
};

class FakePublisher final : public Publisher {
  public:
    void gpus_changed() override { said.emplace_back("gpus"); }
    void xid_reported(const model::XidError& xid) override {
        said.push_back("xid " + std::to_string(xid.code) + " " + xid.gpu.to_string());
    }
    void default_memory_changed() override { said.emplace_back("default memory"); }
    void instance_added(const model::InstanceId& id) override { said.push_back("added " + id.str()); }
    void instance_changed(const model::InstanceId& id) override { said.push_back("changed " + id.str()); }
    void instance_removed(const model::InstanceId& id) override { said.push_back("removed " + id.str()); }
    void unmanaged_changed() override { said.emplace_back("unmanaged"); }
    std::vector<std::string> said;
};

class FakeLinks final : public Links {
  public:
    Result<std::string> open(const model::Instance& instance) override {
        if (broken)
            return model::refuse(model::Refusal::Reason::storage, "link", "no space left on device",
                                 "free some");
        opened.insert(instance.id);
        return "/run/cgpu/instances/" + instance.id.str() + "/link";
    }
    void close(const model::InstanceId& id) override { opened.erase(id); }
    void refresh(const model::Instance& instance) override { refreshed.push_back(instance.id); }
    Result<void> let_in(const model::InstanceId& id, std::uint32_t user) override {
        allowed[id].insert(user);
        return {};
    }
    WatchPtr find_member(const model::InstanceId& id, std::vector<model::Process> others,
                         FoundProcess call) const override {
        asked_but = std::move(others);
        call(members.contains(id) ? std::optional(members.at(id)) : std::nullopt);
        return nullptr;
    }
    bool has_member(std::int32_t pid) const override {
        return std::ranges::any_of(members, [&](const auto& each) { return each.second.pid == pid; });
    }
    bool idle(const model::InstanceId& id) const override { return !in_use.contains(id); }
    bool broken = false;
    std::set<model::InstanceId> opened;
    std::map<model::InstanceId, std::set<std::uint32_t>> allowed;
    std::set<model::InstanceId> in_use;
    std::map<model::InstanceId, model::Process> members;  ///< that would be found
    std::vector<model::InstanceId> refreshed;
    mutable std::vector<model::Process> asked_but;  ///< the others of the last search
};

class FakeProcesses final : public Processes {
  public:
    explicit FakeProcesses(FakeLoop& loop) : loop_(loop) {}
    Result<model::Process> identify(std::int32_t pid) override {
        if (!living.contains(pid))
            return model::refuse(model::Refusal::Reason::not_found, "process", "there is no such process",
                                 "another");
        return model::Process{pid, started.contains(pid) ? started.at(pid) : 7, "boot"};
    }
    bool alive(const model::Process& process) override {
        const auto now = identify(process.pid);
        return now && *now == process;
    }
    std::optional<std::uint32_t> user_of(const model::Process& process) override {
        if (!alive(process)) return std::nullopt;
        return users.contains(process.pid) ? users.at(process.pid) : 0;
    }
    ProcessOwner owner_of(const model::Process& process) override {
        ++asked_for_owners;
        if (!alive(process)) return {};
        return {user_of(process), commands.contains(process.pid) ? commands.at(process.pid) : "job"};
    }
    std::int32_t parent_of(const model::Process& process) override {
        return parents.contains(process.pid) ? parents.at(process.pid) : 0;
    }
    WatchPtr on_exit(const model::Process& process, std::function<void()> call) override {
        if (!living.contains(process.pid)) return loop_.at(loop_.now(), std::move(call));
        const auto key = ++last_watch_;
        ends_[key] = {process.pid, std::move(call)};
        return std::make_unique<EndWatch>(*this, key, process.pid);
    }
    bool sees(const model::Process&, const std::filesystem::path&) override { return false; }
    WatchPtr find_first_to_see(const std::filesystem::path&, std::vector<model::Process>,
                               FoundProcess) override {
        return nullptr;
    }
    bool descends(const model::Process&, const model::Process&) override { return false; }
    std::unique_ptr<ProcessLook> look_at(const model::Process&) override { return nullptr; }
    std::string cgroup_made_for(const model::Process&, std::string_view) override { return {}; }
    bool stopped(const model::Process&) override { return false; }
    Result<void> signal(const model::Process& process, Signal signal) override {
        signalled.emplace_back(process.pid, signal);
        if (signal == Signal::kill || !deaf.contains(process.pid)) kill(process.pid);
        return {};
    }
    [[nodiscard]] bool may_signal_others() const override { return may_signal; }
    bool runs_for(const model::Process& process, std::uint32_t user) override {
        return user_of(process) == user;
    }
    void kill(std::int32_t pid) {
        living.erase(pid);
        for (const auto& [key, end] : std::map(ends_))
            if (end.first == pid && ends_.erase(key) > 0) end.second();
    }
    std::set<std::int32_t> living;
    std::map<std::int32_t, std::uint64_t> started;  ///< start times of those that have a pid again
    std::map<std::int32_t, std::uint32_t> users;    ///< of those that aren't root's
    std::map<std::int32_t, std::string> commands;   ///< of those that aren't called job
    int asked_for_owners = 0;
    std::map<std::int32_t, std::int32_t> parents;
    std::set<std::int32_t> by_signal;  ///< those that a signal kills
    bool may_signal = true;
    std::set<std::int32_t> deaf;  ///< those that take no notice of SIGTERM
    std::vector<std::pair<std::int32_t, Signal>> signalled;

  private:
    struct EndWatch final : Watch {
        EndWatch(FakeProcesses& owner, int its_key, std::int32_t its_pid)
            : processes(owner), key(its_key), pid(its_pid) {}
        ~EndWatch() override { processes.ends_.erase(key); }
        [[nodiscard]] bool killed() const override { return processes.by_signal.contains(pid); }
        FakeProcesses& processes;
        int key;
        std::int32_t pid;
    };
    FakeLoop& loop_;
    int last_watch_ = 0;
    std::map<int, std::pair<std::int32_t, std::function<void()>>> ends_;
};

class FakeCompute final : public NodeFollower {
  public:
    void update(const model::Node& node) override { generation = node.generation(); }
    std::uint64_t generation = 0;
};

class FakeAdmissionGate final : public AdmissionGate {
  public:
    Result<void> open() const override {
        if (closed)
            return model::refuse(model::Refusal::Reason::busy, "new instances", "the gate is closed",
                                 "later");
        return {};
    }
    std::optional<model::Mode> mode() const override { return switched; }
    void instances_changed() override { ++changes; }
    std::optional<model::Mode> switched;
    bool closed = false;
    int changes = 0;
};

/// Events, and those that have happened.
class RecordedEvents final : public EventOutlet {
  public:
    RecordedEvents() { events.add(*this); }
    void happened(const Event& event, const Stamp& stamp) override {
        all.push_back(event);
        last = stamp;
    }
    /// Those of a type.
    [[nodiscard]] std::vector<Event> of(EventType type) const {
        std::vector<Event> some;
        std::copy_if(all.begin(), all.end(), std::back_inserter(some),
                     [type](const Event& event) { return event.type == type; });
        return some;
    }
    Events events{[] { return 7U; }};
    std::vector<Event> all;
    Stamp last;
};

class FakeUsage final : public UsageSource {
  public:
    std::vector<model::Uuid> foreign_gpus(const model::InstanceId&) const override { return foreign; }
    InstanceUsage usage(const model::InstanceId&, const model::Uuid&) const override {
        InstanceUsage usage = figures;
        usage.memory_used = used;
        return usage;
    }
    std::uint64_t take_memory_peak(const model::InstanceId&, const model::Uuid&) override { return used; }
    std::vector<model::Process> members(const model::InstanceId&, const model::Uuid&) const override {
        return all_members;
    }
    std::vector<model::Process> all_members;
    std::uint64_t used = 0;
    InstanceUsage figures;  ///< all but memory_used
    std::vector<model::Uuid> foreign;
};

}  // namespace cgpu::app::test
