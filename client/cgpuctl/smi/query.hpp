#pragma once

#include <string>

#include "client/cgpuctl/smi/request.hpp"
#include "client/cgpuctl/smi/view.hpp"

namespace cgpu::cgpuctl::smi {

/// The heading of the query's table, a line.
[[nodiscard]] std::string csv_header(const Request& request);
/// A line for each GPU, or for each instance on each of its GPUs. What has no value is `[N/A]`; text with a
/// comma or a quote is in double quotes.
[[nodiscard]] std::string csv_rows(const Request& request, const View* before, const View& now);
/// The output of --json for one reading: as `cgpuctl status --json` has GPUs and instances, with
/// `utilization_ratio`.
[[nodiscard]] std::string json_text(const View* before, const View& now);
/// The list of fields for --help-query-gpu and --help-query-instance.
[[nodiscard]] std::string fields_help(Request::What what);

}  // namespace cgpu::cgpuctl::smi
