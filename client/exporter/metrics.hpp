#pragma once

#include <vector>

#include <prometheus/metric_family.h>

#include "client/node/values/snapshot.hpp"

/// The metrics of cgpu-exporter. Base units: bytes, seconds, ratios of 0..1. Labels: `gpu` (the index),
/// `uuid`, `container_id` (the full id), `container` (the name).
namespace cgpu::exporter {

/// Everything about the node, `cgpud_up` included. GPUs that are lost are left out, and figures that aren't
/// measured.
[[nodiscard]] std::vector<prometheus::MetricFamily> metrics_of(const client::Snapshot& snapshot);

/// While cgpud doesn't answer: `cgpud_up` 0, and no figure of earlier.
[[nodiscard]] std::vector<prometheus::MetricFamily> metrics_without_daemon();

}  // namespace cgpu::exporter
