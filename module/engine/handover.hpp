#pragma once

#include <cstdint>

#include "module/engine/engine.hpp"

/// What an engine leaves to the next version: records, each with its kind and size in front. A reader skips
/// kinds that it doesn't know and takes what it knows of longer ones, so both directions of an upgrade work.
namespace cgpu::module {

/// See EngineTable::save.
std::uint64_t save(Engine& engine, void* buffer, std::uint64_t bytes);

/// See EngineTable::restore.
bool restore(Engine& engine, const void* saved, std::uint64_t bytes);

}  // namespace cgpu::module
