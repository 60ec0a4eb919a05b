#pragma once

#include <functional>
#include <mutex>
#include <ostream>
#include <string>
#include <vector>

#include <prometheus/collectable.h>

#include "client/node/values/client_error.hpp"
#include "client/node/values/snapshot.hpp"

namespace cgpu::exporter {

/// Reads the node at each scrape. Scrapes may come at the same time, on several threads.
class Collector final : public prometheus::Collectable {
  public:
    using Read = std::function<client::Result<client::Snapshot>()>;

    /// `read` is called by one thread at a time. `log` gets a line when cgpud is away, and when it is back.
    Collector(Read read, std::ostream& log) : read_(std::move(read)), log_(log) {}

    [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

  private:
    Read read_;
    std::ostream& log_;
    mutable std::mutex mutex_;
    mutable std::string fault_;  ///< of the last reading; empty: it succeeded
};

}  // namespace cgpu::exporter
