#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "client/fs/looked_up.hpp"
#include "client/fs/node_view.hpp"

namespace cgpu::fs {

/// Makes the kernel drop the folders of ended instances, in a thread of its own: it asks for them in the tree
/// as any reader would, and finds that they are gone. (libfuse's functions for paths have no such order.)
class Sweeper {
  public:
    /// `folder`: where the tree is mounted.
    Sweeper(NodeView& view, std::string folder) : view_(view), folder_(std::move(folder)) {}
    ~Sweeper();
    Sweeper(const Sweeper&) = delete;
    Sweeper& operator=(const Sweeper&) = delete;

    /// Begins; without it nothing is dropped. If no thread can be started, neither.
    void start();
    /// A path that names an instance was looked up.
    void looked_up(std::string_view path);
    /// From now on it asks for nothing. Its last question may wait until the tree is unmounted.
    void stop();

  private:
    void run();

    NodeView& view_;
    std::string folder_;
    LookedUp looked_up_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool due_ = false;
    bool ends_ = false;
    std::thread thread_;
};

}  // namespace cgpu::fs
