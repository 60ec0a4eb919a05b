#pragma once

#include <cstdint>
#include <string>

#include "client/cgpuctl/base/input.hpp"
#include "client/node/values/client_error.hpp"
#include "core/history/totals.hpp"

namespace cgpu::cgpuctl {

struct ReportInput : Input {
    std::string since;
    std::string until;
    std::string period;
    std::string by;   ///< name, gpu, day, user or several of them
    std::string svg;  ///< a file
    bool csv = false;
};

}  // namespace cgpu::cgpuctl

namespace cgpu::cgpuctl::report {

/// What a report is asked for.
struct Request {
    enum class Form { table, csv, json };

    history::Span span;  ///< without --since: from the beginning
    bool from_beginning = true;
    bool until_now = true;  ///< without --until
    history::Dimensions by = {history::By::name};
    Form form = Form::table;
    std::string svg;  ///< a file; `-`: the output; empty: no plot
};

/// `now`: microseconds since 1970. Error (usage): a value that can't be read, or two that contradict each
/// other.
[[nodiscard]] client::Result<Request> parse_request(const ReportInput& input, std::uint64_t now);

}  // namespace cgpu::cgpuctl::report
