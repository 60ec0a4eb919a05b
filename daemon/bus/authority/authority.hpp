#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/app/ports/ports.hpp"
#include "daemon/bus/authority/action.hpp"
#include "daemon/bus/calls/callers.hpp"
#include "dbus/caller.hpp"
#include "dbus/compat.hpp"

namespace cgpu::bus {

/// Decides who may do what. Reading is free and not checked here; root may change everything; for other users
/// polkit decides.
class Authority {
  public:
    /// Refused: not_permitted, with a remedy.
    using Answer = std::function<void(const app::Result<void>&)>;
    /// The maximum number of open questions, for one user and for all. The bus allows a connection 128 calls
    /// without an answer; no user may use up those of the others.
    static constexpr std::size_t kMostOfUser = 8;
    static constexpr std::size_t kMostOfAll = 96;
    /// How long to wait for polkit.
    struct Patience {
        std::chrono::milliseconds quiet{25'000};
        std::chrono::milliseconds interactive{120'000};  ///< a user may be typing a password
    };

    /// The connection and the callers must outlive this object. Open questions are not answered any more
    /// after its end.
    Authority(sdbus::IConnection& connection, Callers& callers, Patience patience);
    Authority(sdbus::IConnection& connection, Callers& callers)
        : Authority(connection, callers, Patience()) {}
    ~Authority();
    Authority(const Authority&) = delete;
    Authority& operator=(const Authority&) = delete;

    /// Whoever sent the message that the object works on now. Throws sdbus::Error if it is gone.
    [[nodiscard]] compat::Caller caller_of(const sdbus::IObject& object) {
        return callers_.caller_of(object);
    }

    /// A call that would have changed something, and was refused.
    struct Refused {
        std::string method;
        std::string path;  ///< of the object
        compat::Caller caller;
        model::Refusal refusal;
    };
    /// Whoever wants to know of refused calls.
    void on_refused(std::function<void(const Refused&)> tell) { tell_ = std::move(tell); }
    void refused(const Refused& call) const {
        if (tell_) tell_(call);
    }

    /// Never waits: calls back with the answer, later from the connection's loop or, for root and if polkit
    /// can't be asked at all, within the call.
    void ask(Action action, const compat::Caller& caller, const Answer& answer);
    /// A refusal, or consent, in which `what` stands for the call as a whole; `instead` is another remedy.
    [[nodiscard]] static app::Result<void> about(std::string_view what, std::string_view instead,
                                                 app::Result<void> answer);
    /// Asks for one after the other, until one is refused.
    void ask_for_all(std::vector<Action> actions, const compat::Caller& caller, const Answer& answer);

    /// Tries a call once more, by `again`, if what it was refused for may be out of date. False: it isn't
    /// tried.
    using Retry = std::function<bool(const model::Refusal& refusal, std::function<void()> again)>;
    void set_retry(Retry retry) { retry_ = std::move(retry); }
    [[nodiscard]] bool tries_again(const model::Refusal& refusal, std::function<void()> again) const {
        return retry_ && retry_(refusal, std::move(again));
    }

    /// Carries out what answers a call later than within the call, so that what it changes is told after the
    /// answer.
    using AnswerLate = std::function<void(const std::function<void()>&)>;
    void set_answer_late(AnswerLate answer_late) { answer_late_ = std::move(answer_late); }
    void answer_late(const std::function<void()>& answer) const {
        if (answer_late_)
            answer_late_(answer);
        else
            answer();
    }

  private:
    [[nodiscard]] app::Result<void> room_for(Action action, const compat::Caller& caller) const;
    void closed(uid_t user);
    /// polkit also says no of a caller that has been killed meanwhile, whatever its user may.
    void refuse_if_there(const app::Result<void>& refused, Action action, const compat::Caller& caller,
                         const Answer& answer);
    void give_up(const std::string& question);

    Callers& callers_;
    Patience patience_;
    std::function<void(const Refused&)> tell_;
    Retry retry_;
    AnswerLate answer_late_;
    std::uint64_t last_question_ = 0;
    std::map<uid_t, std::size_t> open_;  ///< questions that polkit hasn't answered
    std::unique_ptr<sdbus::IProxy> polkit_;
    std::unique_ptr<sdbus::IProxy> bus_;
};

}  // namespace cgpu::bus
