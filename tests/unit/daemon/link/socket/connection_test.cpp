#include "daemon/link/socket/connection.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <system_error>
#include <utility>

#include "daemon/app/ports/loop.hpp"

namespace cgpu::link::test {
namespace {

/// A loop that can watch nothing more, as epoll answers when a user watches too many descriptors.
struct FullLoop final : app::Loop {
    app::WatchPtr watch(int, std::uint32_t, std::function<void(std::uint32_t)>) override {
        throw std::system_error(ENOSPC, std::generic_category());
    }
    app::WatchPtr watch_asking(int, std::function<Wanted()>, std::function<void()>) override {
        return nullptr;
    }
    app::WatchPtr at(app::Nanos, std::function<void()>) override { return nullptr; }
    void post(std::function<void()>) override {}
    app::Nanos now() const override { return 0; }
};

/// A loop that says how many watches there are.
struct CountingLoop final : app::Loop {
    struct Counted final : app::Watch {
        explicit Counted(int& all) : count(all) { ++count; }
        ~Counted() override { --count; }
        Counted(const Counted&) = delete;
        Counted& operator=(const Counted&) = delete;
        int& count;
    };
    app::WatchPtr watch(int, std::uint32_t, std::function<void(std::uint32_t)> call) override {
        ready = std::move(call);
        return std::make_unique<Counted>(watches);
    }
    app::WatchPtr watch_asking(int, std::function<Wanted()>, std::function<void()>) override {
        return nullptr;
    }
    app::WatchPtr at(app::Nanos, std::function<void()>) override { return nullptr; }
    void post(std::function<void()>) override {}
    app::Nanos now() const override { return 0; }

    int watches = 0;
    std::function<void(std::uint32_t)> ready;
};

struct NoOwner final : ConnectionOwner {
    void packet(Connection&, std::span<const std::byte>) override {}
    void dropped(Connection&) override {}
};

// The descriptor stayed open, and its peer waited for an answer.
TEST(Connection, ThatCannotBeWatchedIsClosed) {
    int ends[2] = {-1, -1};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    FullLoop loop;
    NoOwner owner;
    EXPECT_THROW(Connection(PeerSocket{Descriptor(ends[0])}, 1, model::Process{1, 1, "boot"}, loop, owner),
                 std::system_error);
    EXPECT_LT(fcntl(ends[0], F_GETFD), 0);
    char byte = 0;
    EXPECT_EQ(recv(ends[1], &byte, 1, MSG_DONTWAIT), 0) << "the peer is told that it is closed";
    close(ends[1]);
}

// A socket that is shut down is always ready: cgpud spun on it until the turn of its instance was over, half
// a millisecond for each connection that ended.
TEST(Connection, ThatWasDroppedIsWatchedNoMore) {
    int ends[2] = {-1, -1};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    CountingLoop loop;
    NoOwner owner;
    const Connection connection{PeerSocket(Descriptor(ends[0])), 1, model::Process{1, 1, "boot"}, loop,
                                owner};
    EXPECT_EQ(loop.watches, 1);
    close(ends[1]);
    loop.ready(EPOLLIN | EPOLLHUP);
    EXPECT_FALSE(connection.usable());
    EXPECT_EQ(loop.watches, 0);
}

/// Answers each packet.
struct AnsweringOwner final : ConnectionOwner {
    int packets = 0;
    bool gone = false;
    void packet(Connection& connection, std::span<const std::byte>) override {
        ++packets;
        connection.send(wire::make_message<wire::Answer>());
    }
    void dropped(Connection&) override { gone = true; }
};

/// A peer that sends 40 packets, more than a turn has, and closes its end.
struct EndedPeer {
    EndedPeer() {
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
        const auto ask = wire::make_message<wire::Ask>();
        for (int i = 0; i < 40; ++i) EXPECT_EQ(send(ends[1], &ask, sizeof ask, 0), long{sizeof ask});
        close(ends[1]);
    }
    int ends[2] = {-1, -1};
};

// The first answer that couldn't be sent dropped the connection, and what was said afterwards was lost: such
// as that memory had been exported.
TEST(Connection, WhatWasSaidBeforeTheEndIsReadAlthoughNothingCanBeAnswered) {
    const EndedPeer peer;
    CountingLoop loop;
    AnsweringOwner owner;
    Connection connection{PeerSocket(Descriptor(peer.ends[0])), 1, model::Process{1, 1, "boot"}, loop, owner};
    connection.welcomed(wire::Role::compute, std::nullopt);
    for (int turn = 0; turn < 5 && !owner.gone; ++turn) loop.ready(EPOLLIN | EPOLLHUP);
    EXPECT_EQ(owner.packets, 40);
    EXPECT_TRUE(owner.gone);
}

TEST(Connection, TheRestIsReadAtOnceWhenThePeerHasEnded) {
    const EndedPeer peer;
    CountingLoop loop;
    AnsweringOwner owner;
    Connection connection{PeerSocket(Descriptor(peer.ends[0])), 1, model::Process{1, 1, "boot"}, loop, owner};
    connection.welcomed(wire::Role::compute, std::nullopt);
    connection.read_rest();
    EXPECT_EQ(owner.packets, 40);
}

}  // namespace
}  // namespace cgpu::link::test
