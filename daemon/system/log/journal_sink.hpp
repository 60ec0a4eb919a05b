#pragma once

#include <spdlog/sinks/base_sink.h>

#include <memory>
#include <mutex>

#include "daemon/system/log/instance_names.hpp"

namespace cgpu::system {

/// Writes to journald by its own protocol: the priority of each line, and CGPU_INSTANCE=, CGPU_NAME= or
/// CGPU_GPU= if the line is about one. spdlog's own sink has no fields.
class JournalSink final : public spdlog::sinks::base_sink<std::mutex> {
  public:
    explicit JournalSink(std::shared_ptr<const InstanceNames> names) : names_(std::move(names)) {}

  protected:
    void sink_it_(const spdlog::details::log_msg& message) override;
    void flush_() override {}

  private:
    std::shared_ptr<const InstanceNames> names_;
};

}  // namespace cgpu::system
