#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "daemon/app/ports/loop.hpp"
#include "daemon/link/base/file.hpp"

namespace cgpu::link {

/// The daemon's loop as the socket and the connections of one instance see it. All that they watch takes part
/// in the daemon's loop as one descriptor (an epoll set in it), and has one turn of bounded length there. So
/// an instance whose processes ask without pause waits for itself, however many connections it has; what
/// another instance, the bus or the driver waits for because of it is that one turn.
class InstanceLoop final : public app::Loop {
  public:
    /// No callback begins in a turn that has lasted so long.
    static constexpr app::Nanos kTurn = 500'000;

    /// `outer` outlives it. Throws std::system_error where no descriptor is left.
    explicit InstanceLoop(app::Loop& outer);
    InstanceLoop(const InstanceLoop&) = delete;
    InstanceLoop& operator=(const InstanceLoop&) = delete;

    app::WatchPtr watch(int fd, std::uint32_t events, std::function<void(std::uint32_t)> call) override;
    app::WatchPtr watch_asking(int fd, std::function<Wanted()> wanted,
                               std::function<void()> dispatch) override {
        return outer_.watch_asking(fd, std::move(wanted), std::move(dispatch));
    }
    app::WatchPtr at(app::Nanos when, std::function<void()> call) override {
        return outer_.at(when, std::move(call));
    }
    void post(std::function<void()> call) override { outer_.post(std::move(call)); }
    app::Nanos now() const override { return outer_.now(); }

  private:
    using Call = std::function<void(std::uint32_t)>;
    struct Registration;

    void turn();

    app::Loop& outer_;
    File epoll_;
    std::uint64_t last_ = 0;
    std::map<std::uint64_t, std::shared_ptr<const Call>> calls_;
    app::WatchPtr watch_;  ///< last: it goes before what it calls
};

}  // namespace cgpu::link
