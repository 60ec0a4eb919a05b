#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>

#include "client/cgpuctl/instances/held.hpp"
#include "client/cgpuctl/instances/verbs.hpp"
#include "tests/unit/client/support/verb_bed.hpp"

namespace cgpu::cgpuctl {
namespace {

using Kind = client::ClientError::Kind;

class Waiting : public VerbTest<WaitInput> {
  protected:
    Waiting() { input_.instances = {"web"}; }
    client::Result<void> wait() { return call(&wait_verb); }
    int sleeps_ = 0;
};

TEST_F(Waiting, ReturnsWhenTheInstanceIsGone) {
    node_.while_waiting = [&](client::Snapshot& now, std::optional<std::chrono::milliseconds> most) {
        EXPECT_FALSE(most) << "nobody looks again and again";
        if (++sleeps_ == 3) now.instances.clear();
    };
    ASSERT_TRUE(wait());
    EXPECT_EQ(sleeps_, 3);
    EXPECT_EQ(screen_.out.str(), "web: it has ended.\n");
}

TEST_F(Waiting, ForAllOfThem) {
    client::Instance other = node_.snapshot.instances[0];
    other.id = "fedcba9876543210fedcba9876543210";
    other.name = "db";
    node_.snapshot.instances.push_back(other);
    input_.instances = {"db", "web", kWebId};
    node_.while_waiting = [&](client::Snapshot& now, auto) { now.instances.erase(now.instances.begin()); };
    ASSERT_TRUE(wait());
    EXPECT_EQ(screen_.out.str(), "web: it has ended.\ndb: it has ended.\n");
}

TEST_F(Waiting, AnotherOneOfThatNameIsNotWaitedFor) {
    node_.while_waiting = [&](client::Snapshot& now, auto) {
        now.instances[0].id = "11111111111111111111111111111111";
        now.instances[0].name = kWebId;
    };
    EXPECT_TRUE(wait());
}

TEST_F(Waiting, AfterTheTimeItFails) {
    input_.timeout = "0";
    const auto done = wait();
    ASSERT_FALSE(done);
    EXPECT_EQ(exit_code(done.error().kind), 1);
    EXPECT_EQ(done.error().text,
              "web: not ended after 0 s; nothing was changed. Try: wait longer, or cgpuctl stop web.");
    input_.timeout = "soon";
    EXPECT_EQ(wait().error().kind, Kind::usage);
    input_.timeout.clear();
    input_.instances = {"nobody"};
    EXPECT_EQ(wait().error().kind, Kind::not_found);
}

/// A node whose daemon is away for a while.
class AwayNode final : public FakeNode {
  public:
    int away = 0;  ///< so many of the next calls find nobody
    client::Result<std::string> find_instance(const std::string& instance) override {
        if (away > 0 && --away >= 0) return client::fail(Kind::unreachable, "cgpud: away. Try: later.");
        return FakeNode::find_instance(instance);
    }
};

TEST_F(Waiting, ARestartOfCgpudDoesNotMatter) {
    AwayNode node;
    auto terminal = screen_.terminal();
    node.while_waiting = [&](client::Snapshot& now, std::optional<std::chrono::milliseconds> most) {
        if (++sleeps_ == 1) node.away = 2;
        EXPECT_EQ(most.has_value(), sleeps_ == 2 || sleeps_ == 3) << "it looks while nobody answers";
        if (sleeps_ == 5) now.instances.clear();
    };
    ASSERT_TRUE(wait_verb(input_, node, terminal));
    EXPECT_EQ(sleeps_, 5);
}

/// A process of its own that ends at SIGTERM, or takes no notice of it.
class Child {
  public:
    explicit Child(bool deaf) {
        std::array<int, 2> ready{};
        EXPECT_EQ(pipe(ready.data()), 0);
        pid_ = fork();
        if (pid_ == 0) {
            signal(SIGTERM, deaf ? SIG_IGN : SIG_DFL);
            if (write(ready[1], "x", 1) != 1) _exit(1);
            for (;;) pause();
        }
        char byte = 0;
        EXPECT_EQ(read(ready[0], &byte, 1), 1);
        close(ready[0]);
        close(ready[1]);
    }
    ~Child() {
        if (pid_ > 0) {
            kill(pid_, SIGKILL);
            waitpid(pid_, nullptr, 0);
        }
    }
    [[nodiscard]] std::uint32_t pid() const { return static_cast<std::uint32_t>(pid_); }
    /// The signal that has ended it; 0: it lives.
    int ended_by() {
        int status = 0;
        if (pid_ < 0 || waitpid(pid_, &status, WNOHANG) != pid_) return 0;
        pid_ = -1;
        return WTERMSIG(status);
    }

  private:
    pid_t pid_ = -1;
};

class Stopping : public VerbTest<StopInput> {
  protected:
    Stopping() {
        input_.instances = {"web"};
        auto& web = node_.snapshot.instances[0];
        web.owner = geteuid();
        web.pid = 0;
        // What cgpud would see.
        node_.while_waiting = [this](client::Snapshot& now, std::optional<std::chrono::milliseconds> most) {
            usleep(static_cast<useconds_t>(std::min<long>(most ? most->count() : 1, 20)) * 1000);
            if (by_ == 0) by_ = main_ != nullptr ? main_->ended_by() : 0;
            if (by_ != 0) now.instances.clear();
        };
    }
    void runs(Child& child) {
        main_ = &child;
        node_.snapshot.instances[0].pid = child.pid();
    }

    Child* main_ = nullptr;
    int by_ = 0;
};

TEST_F(Stopping, AProcessThatObeysIsNotKilled) {
    Child child(false);
    runs(child);
    ASSERT_TRUE(call(&stop_verb));
    EXPECT_EQ(by_, SIGTERM);
    EXPECT_EQ(screen_.out.str(), "web: stopped.\n");
}

TEST_F(Stopping, AfterTheGraceItIsKilled) {
    Child child(true);
    runs(child);
    input_.grace = "1";
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(call(&stop_verb));
    EXPECT_EQ(by_, SIGKILL);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
    EXPECT_EQ(screen_.out.str(), "web: stopped; 1 of its processes were killed.\n");
    input_.grace = "-1";
    EXPECT_EQ(call(&stop_verb).error().kind, Kind::usage);
}

TEST_F(Stopping, ADryRunSignalsNobody) {
    Child child(false);
    runs(child);
    node_.snapshot.instances[0].processes = {{child.pid(), std::nullopt, "burn"}};
    input_.dry_run = true;
    ASSERT_TRUE(call(&stop_verb));
    EXPECT_EQ(screen_.out.str(),
              "web: it could be stopped: " + std::to_string(child.pid()) + " burn; nothing was changed.\n");
    usleep(20'000);
    EXPECT_EQ(child.ended_by(), 0);
}

TEST_F(Stopping, AProcessThatIsNotTheInstancesAnyMoreIsNotHeld) {
    Child child(false);
    runs(child);
    node_.before_reading = [&](client::Snapshot& now) {
        // Between the first reading, by which it is opened, and the second.
        if (node_.readings == 2) now.instances[0].pid = 0;
    };
    HeldProcesses held;
    const auto there = held.take({kWebId}, node_);
    ASSERT_TRUE(there);
    EXPECT_TRUE(there->contains(kWebId));
    EXPECT_TRUE(held.all().empty());
}

TEST_F(Stopping, AProcessThatHasEndedIsNotHeld) {
    Child child(false);
    runs(child);
    node_.before_reading = [&](client::Snapshot&) {
        if (node_.readings == 2) {
            kill(static_cast<pid_t>(child.pid()), SIGKILL);
            usleep(50'000);
        }
    };
    HeldProcesses held;
    ASSERT_TRUE(held.take({kWebId}, node_));
    EXPECT_TRUE(held.all().empty());
}

/// Found as a `stop train` that ended another user's `Train`.
TEST_F(Stopping, WhatOnlyResemblesAnotherUsersInstanceEndsNobody) {
    Child child(false);
    runs(child);
    node_.snapshot.instances[0].owner = geteuid() + 54321;
    for (const char* word : {"WEB", "01234"}) {
        input_.instances = {word};
        const auto refused = call(&stop_verb);
        ASSERT_FALSE(refused) << word;
        EXPECT_EQ(refused.error().kind, Kind::not_found);
        EXPECT_NE(
            refused.error().text.find("resembles it is another user's. Try: name 0123456789ab (web, of " +
                                      std::to_string(geteuid() + 54321) + ") if that is meant."),
            std::string::npos)
            << refused.error().text;
        EXPECT_EQ(child.ended_by(), 0);
    }
    node_.snapshot.instances[0].owner = geteuid();
    ASSERT_TRUE(call(&stop_verb)) << "the own one";
}

/// A container of root's engine, seen by another user.
class StoppingByCgpud : public Stopping {
  protected:
    StoppingByCgpud() {
        auto& web = node_.snapshot.instances[0];
        web.owner.reset();
        web.image = "nginx";
        node_.while_waiting = [this](client::Snapshot& now, auto) {
            if (std::ranges::count(node_.calls, "stop " + std::string(kWebId) + " 10") > 0)
                now.instances.clear();
        };
    }
    void SetUp() override {
        if (geteuid() == 0 && seteuid(65534) != 0) GTEST_SKIP() << "takes another user than root";
    }
    void TearDown() override { (void)seteuid(0); }
    void refuse(Kind kind, const std::string& reason) {
        node_.refusals["stop " + std::string(kWebId) + " 10"] = {kind, "stop of web: no. Try: no.", reason};
    }
};

TEST_F(StoppingByCgpud, WhatTheCallerMayNotSignal) {
    Child child(false);
    runs(child);
    ASSERT_TRUE(call(&stop_verb));
    EXPECT_EQ(screen_.out.str(), "web: stopped; cgpud has sent the signals.\n");
    EXPECT_EQ(child.ended_by(), 0) << "cgpuctl has sent it none";
}

TEST_F(StoppingByCgpud, ADryRunAsksIt) {
    Child child(false);
    runs(child);
    input_.dry_run = true;
    ASSERT_TRUE(call(&stop_verb));
    EXPECT_EQ(node_.calls, std::vector{"stop " + std::string(kWebId) + " 10 dry-run"});
    EXPECT_TRUE(screen_.out.str().starts_with("web: it could be stopped by cgpud: ")) << screen_.out.str();
}

TEST_F(StoppingByCgpud, WhereItRefusesTheEngineIsLeft) {
    Child child(false);
    runs(child);
    refuse(Kind::not_authorized, "NotAuthorized");
    const auto refused = call(&stop_verb);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, Kind::not_authorized);
    EXPECT_EQ(refused.error().text,
              "web: it is a container of root's engine, and only root may end its processes. Try: docker "
              "stop web, or podman stop web.");
    refuse(Kind::refused, "Unsupported");
    EXPECT_TRUE(call(&stop_verb).error().text.ends_with(", or let cgpud do it by kill.conf, see cgpud(8)."));
    refuse(Kind::unreachable, "");
    EXPECT_EQ(call(&stop_verb).error().kind, Kind::unreachable);
}

TEST_F(Stopping, WithoutAProcessItIsRefused) {
    const auto done = call(&stop_verb);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, Kind::refused);
    EXPECT_TRUE(done.error().text.starts_with("web: cgpud knows no process of it yet. Try: "))
        << done.error().text;
}

TEST_F(Stopping, WhatIsStartedMeanwhileIsFound) {
    Child first(false);
    Child second(false);
    runs(first);
    int rounds = 0;
    node_.while_waiting = [&](client::Snapshot& now, auto) {
        usleep(20'000);
        if (first.ended_by() != 0) now.instances[0].pid = second.pid();
        if (second.ended_by() != 0) now.instances.clear();
        ASSERT_LT(++rounds, 500);
    };
    ASSERT_TRUE(call(&stop_verb));
}

}  // namespace
}  // namespace cgpu::cgpuctl
