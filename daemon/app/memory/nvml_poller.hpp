#pragma once

#include <functional>
#include <map>
#include <memory>

#include "daemon/app/ports/ports.hpp"

namespace cgpu::app {

/// Reads the driver's figures of GPUs: on demand; often while the memory of an ended process should become
/// free; and every two seconds while any process holds memory or any instance has a limit. There is one query
/// of a GPU at a time; a demand during one is followed by another.
class NvmlPoller {
  public:
    struct Settings {
        Nanos first = 5'000'000;  ///< until the second query for the same ended process; doubles from there
        Nanos last =
            50'000'000;  ///< a quarter of the time that an ask waits, so that it sees freed memory in time
        Nanos idle = 2'000'000'000;
    };
    enum class Next { rest, later, soon };
    struct Calls {
        /// A query begins.
        std::function<void(const model::Uuid&)> begins;
        /// The result of the query; returns when the next one is needed.
        std::function<Next(const model::Uuid&, const Result<DriverFigures>&)> seen;
    };
    using Figures = Result<DriverFigures>;

    NvmlPoller(Loop& loop, Gpus& gpus, const Settings& settings, Calls calls);

    /// Now, or as soon as the query under way has ended.
    void look(const model::Uuid& gpu);
    /// Now, unless a query is under way, or the next one has its time already.
    void keep_looking(const model::Uuid& gpu);

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
    std::shared_ptr<int> alive_ =
        std::make_shared<int>(0);  ///< the driver may answer after this object's end
};

}  // namespace cgpu::app
