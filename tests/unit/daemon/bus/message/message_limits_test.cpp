#include "daemon/bus/message/message_limits.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <systemd/sd-bus.h>

#include <chrono>
#include <memory>
#include <string>

#include "tests/unit/daemon/support/private_bus.hpp"

namespace cgpu::bus::test {
namespace {

struct Unref {
    void operator()(sd_bus* bus) const { sd_bus_flush_close_unref(bus); }
    void operator()(sd_bus_message* message) const { sd_bus_message_unref(message); }
};
using Bus = std::unique_ptr<sd_bus, Unref>;
using Message = std::unique_ptr<sd_bus_message, Unref>;

/// A daemon without any object, so sd-bus answers calls that pass the limits: there is no such object.
class MessageLimitsTest : public testing::Test {
  protected:
    MessageLimitsTest() {
        sd_bus* opened = nullptr;
        EXPECT_GE(sd_bus_open_system(&opened), 0);
        client_.reset(opened);
    }
    Message call() {
        sd_bus_message* made = nullptr;
        EXPECT_GE(sd_bus_message_new_method_call(client_.get(), &made, server_->getUniqueName().c_str(), "/a",
                                                 "a.b", "C"),
                  0);
        return Message(made);
    }
    /// The name of the error in the answer.
    std::string answer_to(Message message) {
        std::string answer;
        EXPECT_GE(sd_bus_call_async(client_.get(), nullptr, message.get(), keep_error, &answer, 20'000'000),
                  0);
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (answer.empty() && std::chrono::steady_clock::now() < end) {
            const bool did = compat::process_one(*server_);
            if (sd_bus_process(client_.get(), nullptr) > 0 || did) continue;
            pollfd files[] = {{server_->getEventLoopPollData().fd, POLLIN, 0},
                              {sd_bus_get_fd(client_.get()), POLLIN, 0}};
            poll(files, 2, 10);
        }
        return answer;
    }
    static int keep_error(sd_bus_message* reply, void* to, sd_bus_error*) {
        const sd_bus_error* error = sd_bus_message_get_error(reply);
        *static_cast<std::string*>(to) = error != nullptr ? error->name : "no error";
        return 0;
    }
    Message with_texts(std::size_t count, std::size_t length) {
        auto message = call();
        sd_bus_message_open_container(message.get(), 'a', "{ss}");
        for (std::size_t i = 0; i < count; ++i)
            sd_bus_message_append(message.get(), "{ss}", std::to_string(i).c_str(),
                                  std::string(length, 'x').c_str());
        sd_bus_message_close_container(message.get());
        return message;
    }

    cgpu::test::PrivateBus bus_;
    std::unique_ptr<sdbus::IConnection> server_ = sdbus::createSystemBusConnection();
    MessageLimits limits_{*server_};
    Bus client_;
};

#ifdef __SANITIZE_THREAD__
// ThreadSanitizer copies a message once more for each piece that arrives: 20 MiB take 12 s.
constexpr std::size_t kLongText = 4 << 20;
#else
constexpr std::size_t kLongText = 20 << 20;
#endif
constexpr const char* kTooLong = "org.cgpu1.Error.Invalid";
constexpr const char* kGotThrough = "org.freedesktop.DBus.Error.UnknownObject";

TEST_F(MessageLimitsTest, what_is_sensible_gets_through) {
    EXPECT_EQ(answer_to(call()), kGotThrough);
    EXPECT_EQ(answer_to(with_texts(100, 500)), kGotThrough);
    auto message = call();
    sd_bus_message_append(message.get(), "sa{sv}(ut)", "id", 2, "dry-run", "b", 1, "list", "as", 2, "a", "b",
                          7U, std::uint64_t{8});
    EXPECT_EQ(answer_to(std::move(message)), kGotThrough);
}

TEST_F(MessageLimitsTest, one_long_text_is_refused) {
    EXPECT_EQ(answer_to(with_texts(1, kLongText)), kTooLong);
    EXPECT_EQ(answer_to(with_texts(1, MessageLimits::kMostText)), kTooLong);
    EXPECT_EQ(answer_to(call()), kGotThrough) << "and the connection goes on";
}

TEST_F(MessageLimitsTest, many_values_are_refused) {
    EXPECT_EQ(answer_to(with_texts(MessageLimits::kMostValues, 1)), kTooLong);
    auto bytes = call();
    const std::string many(1 << 20, 'x');
    sd_bus_message_append_array(bytes.get(), 'y', many.data(), many.size());
    EXPECT_EQ(answer_to(std::move(bytes)), kTooLong);
}

TEST_F(MessageLimitsTest, containers_within_containers_count) {
    auto message = call();
    // The maximum depth of variants in sd-bus.
    int depth = 0;
    while (depth < 60 && sd_bus_message_open_container(message.get(), 'v', "v") >= 0) ++depth;
    sd_bus_message_append(message.get(), "v", "s", std::string(MessageLimits::kMostText + 1, 'x').c_str());
    for (; depth > 0; --depth) sd_bus_message_close_container(message.get());
    EXPECT_EQ(answer_to(std::move(message)), kTooLong);
}

}  // namespace
}  // namespace cgpu::bus::test
