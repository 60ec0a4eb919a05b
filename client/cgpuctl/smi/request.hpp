#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/node/values/client_error.hpp"

namespace cgpu::cgpuctl::smi {

/// What cgpu-smi is asked for.
struct Request {
    enum class What {
        table,
        json,
        query_gpu,
        query_instance,
        help,
        help_query_gpu,
        help_query_instance,
        version
    };
    What what = What::table;
    std::vector<std::string> fields;                 ///< of a query, each a known one
    bool header = true;                              ///< of a query
    bool units = true;                               ///< of a query
    std::vector<std::string> gpus;                   ///< by index, UUID or PCI address; empty: all
    std::optional<std::chrono::milliseconds> every;  ///< read again and again, at this interval
    std::optional<std::uint32_t> count;              ///< readings until the end; empty: no end
};

/// Reads the arguments after the program's name. Error: kind usage.
[[nodiscard]] client::Result<Request> read_request(const std::vector<std::string>& arguments);

}  // namespace cgpu::cgpuctl::smi
