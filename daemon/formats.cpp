#include "daemon/formats.hpp"

#include "core/upgrade/manifest.hpp"
#include "core/wire/limits.hpp"
#include "daemon/store/lease_record.hpp"
#include "daemon/store/migrate.hpp"

namespace cgpu {
namespace {

std::string line(const char* name, std::uint64_t oldest, std::uint64_t newest) {
    return std::string(name) + " " + std::to_string(oldest) + " " + std::to_string(newest) + "\n";
}

}  // namespace

std::string formats_text() {
    return line("state", store::kOldestStateVersion, store::kStateVersion) +
           line("leases", store::LeaseFileHeader::kOldestVersion, store::LeaseFileHeader::kVersion) +
           line("abi", upgrade::kOldestEngineAbi, upgrade::kNewestEngineAbi) +
           line("pages", wire::kPageVersion, wire::kPageVersion) +
           line("link", wire::kOldestVersion, wire::kVersion);
}

}  // namespace cgpu
