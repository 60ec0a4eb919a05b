#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/sim/device/layout/card.hpp"

namespace simgpu {

/// The folder of card models: `asked` if not empty, otherwise the one beside the program, otherwise the one
/// in the sources.
std::filesystem::path card_folder(const std::string& asked);

/// Reads "V100:16130MiB*4,T4": models, each with an optional memory size and an optional count.
/// @throw std::runtime_error saying what is wrong with the list or a model's file.
std::vector<Card> read_card_list(const std::string& list, const std::filesystem::path& folder);

}  // namespace simgpu
