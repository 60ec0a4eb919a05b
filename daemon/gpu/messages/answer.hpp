#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/gpu.hpp"
#include "core/model/refusal.hpp"
#include "daemon/app/ports/examination.hpp"
#include "daemon/app/ports/ports.hpp"
#include "daemon/app/witness/sources.hpp"

/// The reader's answers: one line of JSON each, with the id of the question. They are the words of another
/// process, so each value is checked: a line that isn't an answer is an error, and never read in part.
namespace cgpu::gpu {

/// The maximum length of an answer's line. 65536 processes in each of NVML's three lists fit in.
constexpr std::size_t kLongestAnswer = std::size_t{16} << 20;

// The line, without its end.
[[nodiscard]] std::string encode(std::uint64_t id, const model::SeenGpus& seen);
[[nodiscard]] std::string encode(std::uint64_t id, const app::DriverFigures& figures);
[[nodiscard]] std::string encode(std::uint64_t id, const app::ExaminedDriver& driver);
[[nodiscard]] std::string encode(std::uint64_t id, const std::vector<app::UtilizationSample>& samples);
[[nodiscard]] std::string encode(std::uint64_t id, const model::Refusal& refusal);

/// The answer to a question of the kind that T answers: SeenGpus, DriverFigures, ExaminedDriver, or vector of
/// UtilizationSample.
template <class T>
struct Answer {
    std::uint64_t id = 0;
    app::Result<T> result;
};

/// Empty: the line is no such answer.
template <class T>
[[nodiscard]] std::optional<Answer<T>> parse_answer(std::string_view line);

extern template std::optional<Answer<model::SeenGpus>> parse_answer(std::string_view line);
extern template std::optional<Answer<app::DriverFigures>> parse_answer(std::string_view line);
extern template std::optional<Answer<app::ExaminedDriver>> parse_answer(std::string_view line);
extern template std::optional<Answer<std::vector<app::UtilizationSample>>> parse_answer(
    std::string_view line);

}  // namespace cgpu::gpu
