#include "client/cgpuctl/top/live.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "client/cgpuctl/output/held_signals.hpp"
#include "client/cgpuctl/top/base/worker.hpp"
#include "client/cgpuctl/top/layout.hpp"
#include "client/cgpuctl/top/screen/curses_screen.hpp"
#include "client/cgpuctl/top/session.hpp"

namespace cgpu::cgpuctl::top {
namespace {

using client::ClientError;
using client::Result;
using SteadyTime = std::chrono::steady_clock::time_point;

/// A thread that takes no signal: whatever it waits for, the one that draws is interrupted.
std::unique_ptr<Worker> make_worker() {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    auto worker = std::make_unique<Worker>();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return worker;
}

/// Only reads a cgpud that is there: an administrator who stops it while this program shows it wants it to
/// stay stopped.
Result<smi::Reading> read_if_running(client::Node& node, const smi::Clock& clock) {
    const auto service = node.service();
    if (!service) return tl::unexpected(service.error());
    if (service->running) return smi::take_reading(node, clock);
    const std::string why = service->failure.empty() ? "it isn't running" : service->failure;
    return client::fail(ClientError::Kind::unreachable, "cgpud: " + why + ". Try: systemctl start cgpud.");
}

Result<void> make(const client::Change& change, client::Node& node) {
    const auto made = node.apply({change}, {});
    if (made) return {};
    ClientError refusal = made.error();
    client::take_change_number(refusal, 1);
    return tl::unexpected(std::move(refusal));
}

class Live {
  public:
    Live(const Options& options, client::Node& node, const smi::Clock& clock, smi::Reading first)
        : options_(options),
          node_(node),
          clock_(clock),
          session_(options.delay, options.sure, options.local),
          worker_(make_worker()) {
        last_ = clock_.now();
        session_.took(std::move(first));
    }

    /// The signal that ended it, or 0.
    int run(CursesScreen& screen, const HeldSignals& signals, bool utf8) {
        while (!ended_) {
            if (is_due()) begin_reading();
            const auto picture = draw(session_, screen.size(), utf8);
            screen.draw(picture.lines, picture.cursor);
            std::array<pollfd, 3> files = {pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{signals.fd(), POLLIN, 0},
                                           pollfd{worker_->fd(), POLLIN, 0}};
            poll(files.data(), files.size(), wait_ms());
            while (const int signal = signals.take())
                if (signal != SIGWINCH) return signal;
            while (const auto done = worker_->take()) (*done)();
            while (const auto key = ended_ ? std::nullopt : screen.key()) press(*key);
            // The terminal has gone: without it there is neither a key nor a place to draw.
            if ((files[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) ended_ = true;
        }
        return 0;
    }

    /// Whether a call of the bus has not ended; the node is used by it.
    [[nodiscard]] bool is_busy() { return worker_->is_busy(); }

  private:
    [[nodiscard]] bool is_last() const { return options_.count && taken_ >= *options_.count; }
    [[nodiscard]] bool is_due() const {
        return !reading_ && !session_.paused() && (now_ || clock_.now() >= last_ + session_.delay());
    }
    /// Until the next reading; -1: nothing is due.
    [[nodiscard]] int wait_ms() const {
        if (reading_ || session_.paused()) return -1;
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(last_ + session_.delay() - clock_.now());
        return static_cast<int>(std::max<std::chrono::milliseconds::rep>(left.count(), 0));
    }
    void begin_reading() {
        reading_ = true;
        now_ = false;
        last_ = clock_.now();
        worker_->add([this]() -> Worker::Done {
            auto reading = std::make_shared<Result<smi::Reading>>(read_if_running(node_, clock_));
            return [this, reading] { took(std::move(*reading)); };
        });
    }
    void took(Result<smi::Reading> reading) {
        reading_ = false;
        if (reading)
            session_.took(std::move(*reading));
        else
            session_.failed(reading.error());
        ++taken_;
        ended_ = ended_ || is_last();
    }
    void press(const Key& key) {
        const Effect effect = session_.press(key);
        ended_ = ended_ || effect.quit;
        now_ = now_ || effect.read_now;
        if (!effect.change) return;
        worker_->add([this, change = *effect.change]() -> Worker::Done {
            const auto answer = make(change, node_);
            return [this, change, answer] {
                session_.changed(change, answer);
                now_ = true;
            };
        });
    }

    const Options& options_;
    client::Node& node_;
    const smi::Clock& clock_;
    Session session_;
    SteadyTime last_;       ///< when the last reading was begun
    bool reading_ = false;  ///< it has not ended
    bool now_ = false;      ///< the next one isn't waited for
    bool ended_ = false;
    std::uint32_t taken_ = 1;
    std::unique_ptr<Worker> worker_;  ///< ends before what its tasks use
};

}  // namespace

Result<void> run_live(const Options& options, client::Node& node, const smi::Clock& clock, bool color) {
    auto first = smi::take_reading(node, clock);
    if (!first) return tl::unexpected(first.error());
    const bool utf8 = use_locale_of_environment();
    Live live(options, node, clock, std::move(*first));
    {
        const HeldSignals signals{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH};
        auto screen = CursesScreen::open(color);
        if (!screen) return tl::unexpected(screen.error());
        const int signal = live.run(**screen, signals, utf8);
        screen->reset();
        // It ends as its caller expects of a program that got the signal. ncurses has put a handler of its
        // own there, which would make an exit status of it.
        if (signal != 0) {
            std::signal(signal, SIG_DFL);
            raise(signal);  // it arrives when the signals are no longer held
        }
    }
    // The call can take as long as cgpud likes, and nobody waits for its answer.
    if (live.is_busy()) std::_Exit(0);
    return {};
}

}  // namespace cgpu::cgpuctl::top
