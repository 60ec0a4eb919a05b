#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "core/model/uuid.hpp"

namespace cgpu::gpu {

/// What cgpud asks the reader: one line of JSON, `{"id":7,"ask":"processes","gpu":"GPU-…"}`.
struct Question {
    enum class Ask {
        list,         ///< the GPUs; answered by encode(id, SeenGpus)
        processes,    ///< those on one GPU; answered by encode(id, DriverFigures)
        examine,      ///< what an examination of the node needs; answered by encode(id, ExaminedDriver)
        utilization,  ///< of the processes on one GPU; answered by encode(id, vector of UtilizationSample)
    };
    std::uint64_t id = 0;  ///< repeated in the answer
    Ask ask = Ask::list;
    std::optional<model::Uuid> gpu = std::nullopt;  ///< of `processes` and `utilization`
    std::uint64_t after_us = 0;  ///< of `utilization`: only samples that are newer, by the driver's clock

    friend bool operator==(const Question&, const Question&) = default;
};

/// The line, without its end.
[[nodiscard]] std::string encode(const Question& question);
/// Error: what is wrong with the line, without a full stop.
[[nodiscard]] tl::expected<Question, std::string> parse_question(std::string_view line);

}  // namespace cgpu::gpu
