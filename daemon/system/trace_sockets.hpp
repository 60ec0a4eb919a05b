#pragma once

#include "daemon/app/ports/tracing.hpp"

namespace cgpu::system {

/// Streams over pairs of Unix sockets: unlike a pipe, the reader can end the trace by shutting down its
/// sending side, and still read the rest.
class TraceSockets final : public app::TraceStreams {
  public:
    app::Result<app::OpenedTrace> open() override;
};

}  // namespace cgpu::system
