// Descriptors that nobody asked for: what a process of an instance sends with its packets doesn't make cgpud
// wait, whatever it does when it is closed.
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "tests/unit/daemon/link/support/link_bed.hpp"

namespace cgpu::link::test {
namespace {

using Order = Puppet::Order;

/// -1: there is no network here, not even lo.
int listening_socket(sockaddr_in& address) {
    const int listening = socket(AF_INET, SOCK_STREAM, 0);
    const int small = 4096;
    setsockopt(listening, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    const bool listens = bind(listening, generic, size) == 0 && listen(listening, 1) == 0 &&
                         getsockname(listening, generic, &size) == 0;
    return listens ? listening : -1;
}

/// Sends a TCP socket whose last close(2) takes a minute: it has unsent data, and lingers. A child has it,
/// and ends: that doesn't linger, should it be the last one that has it. `before`: descriptors in front of
/// it.
bool send_lingering(Front& front, const void* bytes, std::size_t size, int before = 0) {
    sockaddr_in address{};
    if (listening_socket(address) < 0) return false;  // it stays open: nobody reads what was sent to it
    const pid_t child = fork();
    if (child == 0) {
        const int connected = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(connected, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) _exit(1);
        const std::vector<char> much(1 << 20);
        while (send(connected, much.data(), much.size(), MSG_DONTWAIT) > 0) {
        }
        const linger minute{1, 60};
        if (setsockopt(connected, SOL_SOCKET, SO_LINGER, &minute, sizeof minute) != 0) _exit(1);
        std::vector<int> files;
        files.reserve(static_cast<std::size_t>(before) + 1);
        for (int i = 0; i < before; ++i) files.push_back(open("/proc/self/exe", O_RDONLY));
        files.push_back(dup(connected));
        _exit(front.send_files(bytes, size, files) ? 0 : 1);
    }
    int status = 1;
    return waitpid(child, &status, 0) == child && status == 0;
}

/// Ways of sending it, from the socket's path. 1: it was sent.
std::uint64_t as_first_packet(Front& front, const Order& order) {
    return front.connect(order.text) && send_lingering(front, "?", 1) ? 1 : 0;
}
std::uint64_t with_hello(Front& front, const Order& order) {
    auto hello = wire::make_message<wire::Hello>();
    hello.oldest_version = hello.newest_version = wire::kVersion;
    hello.role = wire::Role::compute;
    return front.connect(order.text) && send_lingering(front, &hello, sizeof hello) ? 1 : 0;
}
std::uint64_t after_welcome(Front& front, const Order& order) {
    if (!front.connect(order.text) || front.hello(wire::Role::compute) != wire::Why::none) return 0;
    auto message = wire::make_message<wire::Ask>(1);
    return send_lingering(front, &message, sizeof message) ? 1 : 0;
}
/// Behind packets that nobody reads any more, empty ones among them: it is sent before the first is read.
std::uint64_t behind_others(Front& front, const Order& order) {
    if (!front.connect(order.text)) return 0;
    for (int i = 0; i < 40; ++i)
        if (!front.send_bytes("?", static_cast<std::size_t>(i % 2))) return 0;
    return send_lingering(front, "", 0) ? 1 : 0;
}
/// The answer that it leaves unread makes the end of the connection an error for cgpud.
std::uint64_t and_hang_up(Front& front, const Order& order) {
    if (!front.connect(order.text)) return 0;
    auto hello = wire::make_message<wire::Hello>();
    hello.oldest_version = hello.newest_version = wire::kVersion;
    hello.role = wire::Role::observe;
    if (!front.send(hello)) return 0;
    while (recv(front.fd, nullptr, 0, MSG_PEEK) < 0) {
    }
    const bool sent = send_lingering(front, "?", 1);
    front.disconnect();
    return sent ? 1 : 0;
}
std::uint64_t to_hand_over(Front& front, const Order& order) {
    if (!front.connect(order.text)) return 0;
    auto hello = wire::make_message<wire::Hello>();
    hello.oldest_version = hello.newest_version = wire::kVersion;
    hello.role = wire::Role::hand_over;
    if (!front.send(hello)) return 0;
    auto message = wire::make_message<wire::HandOver>();
    message.libraries = 3;
    if (!send_lingering(front, &message, sizeof message, 4)) return 0;
    return wire::read_message<wire::Refused>(front.receive()) ? 1 : 0;
}

struct LinkSentDescriptor : LinkTest {
    LinkSentDescriptor() { LinkTest::settings.hello_deadline = app::kSecond; }

    void SetUp() override {
        sockaddr_in address{};
        const int probe = listening_socket(address);
        if (probe < 0) GTEST_SKIP() << "there is no network here, not even lo";
        close(probe);
    }

    Order order(std::uint64_t (*way)(Front&, const Order&)) const {
        Order made{way};
        wire::put_text(made.text, socket(one));
        return made;
    }
    /// The loop doesn't run meanwhile.
    void send_alone(Puppet& puppet, std::uint64_t (*way)(Front&, const Order&)) const {
        puppet.start(order(way));
        std::optional<std::uint64_t> sent;
        while (!(sent = puppet.result())) std::this_thread::yield();
        EXPECT_EQ(sent, 1U);
    }
    /// It neither waited nor let others wait; a minute is what the sender wanted.
    void expect_quick() {
        EXPECT_TRUE(honest.connect(socket(two)));
        EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(40));
    }

    // All processes are there before anything is sent: one that is made later has the daemon's descriptors
    // for a moment, and could be the one that closes the last.
    Puppet honest{loop};
    std::vector<std::unique_ptr<Puppet>> puppets = std::invoke([this] {
        std::vector<std::unique_ptr<Puppet>> made;
        while (made.size() < 5) made.push_back(std::make_unique<Puppet>(loop));
        return made;
    });
    std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
};

TEST_F(LinkSentDescriptor, IsNotWaitedFor) {
    std::size_t next = 0;
    for (const auto way : {as_first_packet, with_hello, after_welcome, and_hang_up, to_hand_over}) {
        Puppet& puppet = *puppets[next++];
        EXPECT_EQ(puppet.tell(order(way)), 1U);
        expect_quick();
    }
}

TEST_F(LinkSentDescriptor, IsNotWaitedForWhenItsSenderEnds) {
    std::size_t next = 0;
    for (const auto way : {as_first_packet, with_hello, after_welcome, and_hang_up}) {
        Puppet& puppet = *puppets[next++];
        EXPECT_EQ(puppet.tell(order(way)), 1U);
        puppet.kill();
        expect_quick();
    }
}

TEST_F(LinkSentDescriptor, IsNotWaitedForBehindPacketsThatAreNotRead) {
    Puppet& puppet = *puppets.front();
    send_alone(puppet, behind_others);
    expect_quick();
}

TEST_F(LinkSentDescriptor, IsNotWaitedForWhenNobodyHasAcceptedItsConnection) {
    Puppet& puppet = *puppets.front();
    send_alone(puppet, as_first_packet);
    server->close(one.id);
    expect_quick();
}

TEST_F(LinkSentDescriptor, IsNotWaitedForByADaemonThatEndsNorByTheNext) {
    Puppet& puppet = *puppets.front();
    send_alone(puppet, as_first_packet);
    stop();
    start();
    expect_quick();
}

}  // namespace
}  // namespace cgpu::link::test
