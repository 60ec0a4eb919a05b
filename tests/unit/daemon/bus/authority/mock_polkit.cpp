#include "tests/unit/daemon/bus/authority/mock_polkit.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "dbus/compat.hpp"
#include "polkit_adaptor.hpp"

namespace cgpu::test {
namespace {

using Details = std::map<std::string, std::string>;
using Subject = sdbus::Struct<std::string, std::map<std::string, sdbus::Variant>>;
using Verdict = sdbus::Struct<bool, bool, Details>;
using Reply = sdbus::Result<Verdict>;

class Authority final : public sdbus::AdaptorInterfaces<org::freedesktop::PolicyKit1::Authority_adaptor> {
  public:
    Authority(sdbus::IConnection& connection, MockPolkit::Mood its_mood)
        : AdaptorInterfaces(connection, sdbus::ObjectPath("/org/freedesktop/PolicyKit1/Authority")),
          mood(its_mood) {
        registerAdaptor();
    }
    ~Authority() { unregisterAdaptor(); }
    Authority(const Authority&) = delete;
    Authority& operator=(const Authority&) = delete;

    std::mutex lock;
    MockPolkit::Mood mood;
    std::vector<MockPolkit::Question> questions;
    std::vector<std::string> cancelled;
    std::vector<Reply> held;

  private:
    using Mood = MockPolkit::Mood;

    Mood note(const MockPolkit::Question& question, Reply& result) {
        const std::lock_guard guard(lock);
        questions.push_back(question);
        if (mood == Mood::hold) held.push_back(std::move(result));
        return mood;
    }
    void CheckAuthorization(Reply&& result, Subject subject, std::string action, Details, std::uint32_t flags,
                            std::string id) override {
        const Mood now =
            note({subject.get<0>(), subject.get<1>().at("name").get<std::string>(), action, flags == 1, id},
                 result);
        if (now == Mood::gone)
            return result.returnError(compat::make_error("org.freedesktop.DBus.Error.NameHasNoOwner",
                                                         "Could not get UID of name '" +
                                                             subject.get<1>().at("name").get<std::string>() +
                                                             "': no such name"));
        // The connection has a lock of its own, so none of ours is held during the call.
        if (now != Mood::hold)
            result.returnResults(Verdict(now == Mood::yes, now == Mood::challenge, Details()));
    }
    void CancelCheckAuthorization(const std::string& id) override {
        const std::lock_guard guard(lock);
        cancelled.push_back(id);
    }
};

}  // namespace

struct MockPolkit::Inside {
    explicit Inside(Mood mood) : authority(*connection, mood) {
        connection->requestName(compat::ServiceName("org.freedesktop.PolicyKit1"));
        connection->enterEventLoopAsync();
    }
    ~Inside() { connection->leaveEventLoop(); }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

    std::unique_ptr<sdbus::IConnection> connection = sdbus::createSystemBusConnection();
    Authority authority;
};

MockPolkit::MockPolkit(Mood mood) : inside_(std::make_unique<Inside>(mood)) {}
MockPolkit::~MockPolkit() = default;

void MockPolkit::set_mood(Mood mood) {
    const std::lock_guard guard(inside_->authority.lock);
    inside_->authority.mood = mood;
}

void MockPolkit::answer_held() {
    std::vector<Reply> held;
    {
        const std::lock_guard guard(inside_->authority.lock);
        held.swap(inside_->authority.held);
    }
    for (const auto& reply : held) reply.returnResults(Verdict(true, false, Details()));
}

std::vector<MockPolkit::Question> MockPolkit::questions() const {
    const std::lock_guard guard(inside_->authority.lock);
    return inside_->authority.questions;
}

std::vector<std::string> MockPolkit::cancelled() const {
    const std::lock_guard guard(inside_->authority.lock);
    return inside_->authority.cancelled;
}

}  // namespace cgpu::test
