#pragma once

#include <cstdint>

#include "module/engine/engine.hpp"

/// What an engine passes to the next version: its complete state, as the records of records.hpp. After a
/// restore every figure and every decision is the same as without an exchange. Not passed on is what follows
/// from the rest (charges from the holdings, GPU time in flight from the batches), and the pages, which
/// `bind` sets.
namespace cgpu::module {

/// See EngineTable::save.
std::uint64_t save(Engine& engine, void* buffer, std::uint64_t bytes);

/// See EngineTable::restore.
bool restore(Engine& engine, const void* saved, std::uint64_t bytes);

}  // namespace cgpu::module
