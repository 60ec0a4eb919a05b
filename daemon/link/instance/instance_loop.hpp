#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "daemon/app/ports/loop.hpp"
#include "files/descriptor.hpp"

namespace cgpu::link {

/// The daemon's loop, as the socket and the connections of one instance see it. All their watches appear in
/// the daemon's loop as one descriptor (an epoll set in it), which has one turn of bounded length there. So
/// an instance whose processes send without pause delays mostly itself, however many connections it has;
/// another instance, the bus and the driver wait for that one turn at most.
class InstanceLoop final : public app::Loop {
  public:
    /// No callback begins in a turn that has lasted for this long.
    static constexpr app::Nanos kTurn = 500'000;

    /// `outer` outlives it. Throws std::system_error if no descriptor is left.
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
    Descriptor epoll_;
    std::uint64_t last_ = 0;
    std::map<std::uint64_t, std::shared_ptr<const Call>> calls_;
    app::WatchPtr watch_;  ///< last: it is destroyed before the members that it calls
};

}  // namespace cgpu::link
