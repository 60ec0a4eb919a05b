#pragma once

#include <string_view>

/// A runtime that cgpu-runtime executes may call cgpu-runtime again: NVIDIA's with `runtimes =
/// ["/usr/bin/cgpu-runtime"]` in its config.toml, or a script at /etc/cgpu/next-runtime. Such a call must not
/// request a second part of a GPU, nor lead round in a circle for ever. So each call leaves a mark in the
/// environment of the program that it executes. Containers don't see it: their environment is config.json's.
namespace cgpu::runtime {

enum class Call {
    first,            ///< by an engine
    by_next_runtime,  ///< cgpu-runtime has executed the next runtime, which calls it as its low-level one
    by_low_level_runtime,  ///< and the program that it executed then calls it once more
};

/// `mark`: what an earlier call left, or nothing.
[[nodiscard]] Call call_of(std::string_view mark);
[[nodiscard]] Call this_call();

/// Marks what this process executes now, so that a call from there is of that kind.
void expect_call(Call next);

}  // namespace cgpu::runtime
