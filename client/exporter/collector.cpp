#include "client/exporter/collector.hpp"

#include "client/exporter/metrics.hpp"

namespace cgpu::exporter {

std::vector<prometheus::MetricFamily> Collector::Collect() const {
    const std::lock_guard lock(mutex_);
    const auto snapshot = read_();
    if (!snapshot) {
        if (fault_ != snapshot.error().text) log_ << snapshot.error().text << std::endl;
        fault_ = snapshot.error().text;
        return metrics_without_daemon();
    }
    if (!fault_.empty()) log_ << "cgpud answers again." << std::endl;
    fault_.clear();
    return metrics_of(*snapshot);
}

}  // namespace cgpu::exporter
