#include "tests/sim/tool/card_catalogue.hpp"

#include <yaml-cpp/yaml.h>

#include <cstdio>
#include <random>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace simgpu {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMiB = 1U << 20;
constexpr std::uint32_t kNvidia = 0x10DE;

Card read_model(const std::string& model, const fs::path& folder) {
    const fs::path file = folder / (model + ".yaml");
    if (!fs::exists(file)) {
        std::string known;
        for (const auto& entry : fs::directory_iterator(folder)) known += " " + entry.path().stem().string();
        throw std::runtime_error("no card model '" + model + "' in " + folder.string() +
                                 ". Try one of:" + known);
    }
    const YAML::Node node = YAML::LoadFile(file);
    Card card{};
    std::snprintf(card.name, sizeof card.name, "%s", node["name"].as<std::string>().c_str());
    card.memory_bytes = node["memory_mib"].as<std::uint64_t>() * kMiB;
    card.reserved_bytes = node["reserved_mib"].as<std::uint64_t>() * kMiB;
    card.context_bytes = node["context_mib"].as<std::uint64_t>() * kMiB;
    card.slice = node["slice_us"].as<Nanoseconds>() * 1000;
    card.switch_cost = node["switch_us"].as<Nanoseconds>() * 1000;
    card.launch_call = node["launch_call_ns"].as<Nanoseconds>(0);
    card.sm_count = node["sm_count"].as<std::int32_t>();
    const auto capability = node["compute_capability"].as<std::string>();
    if (std::sscanf(capability.c_str(), "%d.%d", &card.cc_major, &card.cc_minor) != 2 || card.slice <= 0) {
        throw std::runtime_error(file.string() + ": compute_capability or slice_us is wrong");
    }
    card.clock_mhz = node["clock_mhz"].as<std::int32_t>();
    card.memory_clock_mhz = node["memory_clock_mhz"].as<std::int32_t>();
    card.memory_bus_bits = node["memory_bus_bits"].as<std::int32_t>();
    card.power_limit_watts = node["power_limit_watts"].as<std::int32_t>();
    card.pci_id = node["pci_device_id"].as<std::uint32_t>() << 16 | kNvidia;
    return card;
}

/// What distinguishes one card of a node from another; it is always the same for the same index.
void give_identity(Card& card, std::uint32_t index) {
    std::mt19937 numbers(index + 1);
    for (auto& byte : card.uuid) byte = static_cast<std::uint8_t>(numbers());
    card.uuid[6] = static_cast<std::uint8_t>((card.uuid[6] & 0x0f) | 0x40);  // a random UUID
    card.uuid[8] = static_cast<std::uint8_t>((card.uuid[8] & 0x3f) | 0x80);
    card.pci_domain = 0;
    card.pci_bus = 0x1a + 0x10 * index;
    card.pci_device = 0;
}

}  // namespace

fs::path card_folder(const std::string& asked) {
    if (!asked.empty()) return asked;
    const fs::path beside = fs::read_symlink("/proc/self/exe").parent_path() / "cards";
    return fs::exists(beside) ? beside : fs::path(SIMGPU_CARDS);
}

std::vector<Card> read_card_list(const std::string& list, const fs::path& folder) {
    static const std::regex item(R"(([A-Za-z0-9-]+)(?::(\d+)MiB)?(?:\*(\d+))?)");
    std::vector<Card> cards;
    std::istringstream items(list);
    for (std::string text; std::getline(items, text, ',');) {
        std::smatch part;
        if (!std::regex_match(text, part, item)) {
            throw std::runtime_error("can't read '" + text +
                                     "' in the list of GPUs. Try: V100:16130MiB*4,T4");
        }
        Card card = read_model(part[1], folder);
        if (part[2].matched) card.memory_bytes = std::stoull(part[2]) * kMiB;
        const unsigned long count = part[3].matched ? std::stoul(part[3]) : 1;
        for (unsigned long i = 0; i < count && cards.size() <= kMaxGpus; ++i) cards.push_back(card);
    }
    if (cards.empty() || cards.size() > kMaxGpus) {
        throw std::runtime_error("a device has 1 to " + std::to_string(kMaxGpus) + " GPUs");
    }
    for (std::uint32_t index = 0; index < cards.size(); ++index) give_identity(cards[index], index);
    return cards;
}

}  // namespace simgpu
