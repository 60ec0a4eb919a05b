#include "daemon/store/instance_records.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "daemon/app/ports/log.hpp"
#include "daemon/store/instance_json.hpp"
#include "daemon/store/json_fields.hpp"
#include "daemon/store/migrate.hpp"
#include "daemon/store/sealed_text.hpp"
#include "files/read.hpp"

namespace cgpu::store {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::size_t kLongest = std::size_t{1} << 20;
constexpr std::string_view kExtension = ".json";

std::optional<model::Instance> instance_in(const std::string& text) {
    if (seal_of(text) != Seal::whole) return std::nullopt;
    const auto document = json::parse(text, nullptr, false);
    std::string error;
    Fields fields(document, "", error);
    if (fields.number("version") != kStateVersion) return std::nullopt;
    fields.text(kChecksum);
    const json* part = fields.object("instance");
    auto instance = part != nullptr ? read_instance(*part, "instance", error) : std::nullopt;
    fields.refuse_others();
    return error.empty() ? instance : std::nullopt;
}

std::vector<fs::path> files_in(const fs::path& folder) {
    std::vector<fs::path> found;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
        if (it->path().extension() == kExtension) found.push_back(it->path());
    return found;
}

}  // namespace

InstanceRecords::InstanceRecords(fs::path folder) : folder_(std::move(folder)) {
    std::error_code ignored;  // then none can be written, which is said there
    fs::create_directory(folder_, ignored);
    fs::permissions(folder_, fs::perms::owner_all, ignored);
}

fs::path InstanceRecords::path_of(const model::InstanceId& id) const {
    return folder_ / (id.str() + std::string(kExtension));
}

std::vector<model::Instance> InstanceRecords::left(const std::string& boot_id) const {
    std::vector<model::Instance> found;
    for (const auto& path : files_in(folder_)) {
        const auto text = files::read_whole(path, kLongest);
        auto instance = text && *text ? instance_in(**text) : std::nullopt;
        if (!instance || path != path_of(instance->id)) {
            log::warn("{}: it is no whole record of an instance, and is left out", path.string());
        } else if (instance->attached && instance->attached->boot_id == boot_id) {
            found.push_back(std::move(*instance));
        }
    }
    std::ranges::sort(found, {}, &model::Instance::id);
    return found;
}

void InstanceRecords::drop_rest(const std::vector<model::Instance>& kept) {
    for (const auto& path : files_in(folder_)) {
        const auto is_kept = [&](const model::Instance& instance) { return path == path_of(instance.id); };
        const auto id = model::InstanceId::parse(path.stem().string());
        if ((id && written_.find(*id) != nullptr) || std::ranges::any_of(kept, is_kept)) continue;
        std::error_code ignored;
        fs::remove(path, ignored);
    }
}

void InstanceRecords::update(const model::Node& node) {
    for (const auto& [id, instance] : written_) {
        std::error_code ignored;
        if (node.find_instance(id) == nullptr) fs::remove(path_of(id), ignored);
    }
    for (const auto& [id, instance] : node.instances())
        if (instance.attached && written_.find(id) != &instance) write(instance);
    written_ = node.instances();
}

void InstanceRecords::write(const model::Instance& instance) {
    const ordered_json document = {{"version", kStateVersion}, {"instance", instance_json(instance)}};
    const auto text = sealed(document.dump(2, ' ', true, ordered_json::error_handler_t::replace) + "\n");
    const auto path = path_of(instance.id);
    // What is cut off by a crash has no seal, and the state has the instance then.
    const auto written = files::write_text(path, text);
    if (!written && !std::exchange(warned_, true))
        log::warn(
            "{} can't be written: {}. If the state is damaged while instances run, those without such a "
            "record are lost to it. Try: free space in its folder.",
            path.string(), written.error().why());
    if (written) warned_ = false;
}

}  // namespace cgpu::store
