#pragma once

#include <cstdint>

#include "module/engine/engine.hpp"

/// What an engine leaves to the next version: all that it knows, as the records of records.hpp. Restored,
/// every figure and every decision is what it would have been without. Not handed over is what follows from
/// the rest (charges from the holdings, GPU time in flight from the batches) and the pages, which `bind`
/// tells.
namespace cgpu::module {

/// See EngineTable::save.
std::uint64_t save(Engine& engine, void* buffer, std::uint64_t bytes);

/// See EngineTable::restore.
bool restore(Engine& engine, const void* saved, std::uint64_t bytes);

}  // namespace cgpu::module
