#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "client/cgpuctl/output/terminal.hpp"

namespace cgpu::cgpuctl {

/// While a call of CreateInstance lasts, whose request waits in the queue: shows its place there, by a
/// connection of its own.
class ShownWait {
  public:
    ShownWait(std::string id, Terminal& terminal);
    /// Also ends.
    ~ShownWait();
    ShownWait(const ShownWait&) = delete;
    ShownWait& operator=(const ShownWait&) = delete;

    /// Call before the process becomes another program.
    void end();

  private:
    void show();
    /// False: it is to end.
    bool sleep(std::chrono::milliseconds most);

    std::string id_;
    Terminal& terminal_;
    std::mutex mutex_;
    std::condition_variable woken_;
    bool ending_ = false;
    std::thread thread_;
};

/// Null: the request doesn't wait.
[[nodiscard]] std::unique_ptr<ShownWait> show_wait(const std::string& id,
                                                   const std::map<std::string, std::string>& variables,
                                                   Terminal& terminal);

}  // namespace cgpu::cgpuctl
