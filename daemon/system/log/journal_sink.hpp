#pragma once

#include <spdlog/sinks/base_sink.h>

#include <mutex>

namespace cgpu::system {

/// Writes to journald by its own protocol: the priority of each line, and CGPU_INSTANCE= or CGPU_GPU= if the
/// line is about one. spdlog's own sink has no fields.
class JournalSink final : public spdlog::sinks::base_sink<std::mutex> {
  protected:
    void sink_it_(const spdlog::details::log_msg& message) override;
    void flush_() override {}
};

}  // namespace cgpu::system
