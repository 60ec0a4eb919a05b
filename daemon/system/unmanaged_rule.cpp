#include "daemon/system/unmanaged_rule.hpp"

#include <string>
#include <system_error>

#include "files/read.hpp"

namespace cgpu::system {
namespace {

tl::unexpected<model::Refusal> not_written(const std::filesystem::path& path, const std::string& why) {
    return model::refuse(
        model::Refusal::Reason::storage, path.string(), why,
        "check the folder: until it is right, containers that ask for no part of a GPU start "
        "while cgpud isn't running");
}

}  // namespace

tl::expected<void, model::Refusal> write_unmanaged_rule(const std::filesystem::path& folder,
                                                        std::string_view rule) {
    const auto path = folder / "unmanaged";
    std::error_code error;
    if (rule == "allow") {
        std::filesystem::remove(path, error);
        if (error) return not_written(path, error.message());
        return {};
    }
    // Readers ask only whether it is there.
    const auto written = files::write_text(path, std::string(rule) + "\n");
    if (!written) return not_written(path, written.error().why());
    return {};
}

}  // namespace cgpu::system
