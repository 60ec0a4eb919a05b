#pragma once

#include <functional>
#include <map>
#include <memory>

#include "daemon/app/ports/ports.hpp"

namespace cgpu::app {

/// Reads the driver's figures of GPUs: on demand; often while an ended process's memory should become free;
/// and every two seconds while anybody holds memory or has a limit. There is one reading of a GPU at a time;
/// a demand during one is followed by another.
class NvmlPoller {
  public:
    struct Settings {
        Nanos first = 5'000'000;  ///< to the second look for the same ended process; doubles from there
        Nanos last = 50'000'000;  ///< a quarter of the time that an ask waits: what is free is seen in it
        Nanos idle = 2'000'000'000;
    };
    enum class Next { rest, later, soon };
    struct Calls {
        /// A look begins.
        std::function<void(const model::Uuid&)> begins;
        /// What it showed; answers when the next one is wanted.
        std::function<Next(const model::Uuid&, const Result<std::vector<DriverProcess>>&)> seen;
    };
    using Figures = Result<std::vector<DriverProcess>>;

    NvmlPoller(Loop& loop, Gpus& gpus, const Settings& settings, Calls calls);

    /// Now, or as soon as the look that is under way has ended.
    void look(const model::Uuid& gpu);

  private:
    struct State {
        bool under_way = false;
        bool again = false;
        Nanos delay = 0;
        WatchPtr timer;
    };

    void begin(const model::Uuid& gpu);
    void end(const model::Uuid& gpu, const Figures& figures);

    Loop& loop_;
    Gpus& gpus_;
    const Settings& settings_;
    Calls calls_;
    std::map<model::Uuid, State> states_;
    std::shared_ptr<int> alive_ = std::make_shared<int>(0);  ///< the driver may answer after our end
};

}  // namespace cgpu::app
