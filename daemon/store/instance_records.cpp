#include "daemon/store/instance_records.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "core/model/differences.hpp"
#include "daemon/app/ports/log.hpp"
#include "daemon/store/base/record_folder.hpp"
#include "daemon/store/json/instance_json.hpp"
#include "daemon/store/json/json_fields.hpp"
#include "daemon/store/json/sealed_text.hpp"
#include "daemon/store/migrate.hpp"
#include "files/read.hpp"

namespace cgpu::store {
namespace {

namespace fs = std::filesystem;
using model::InstanceRecord;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::size_t kLongest = std::size_t{1} << 20;

std::optional<InstanceRecord> record_in(const std::string& text) {
    if (seal_of(text) != Seal::whole) return std::nullopt;
    const auto document = json::parse(text, nullptr, false);
    std::string error;
    Fields fields(document, "", error);
    if (fields.number("version") != kStateVersion) return std::nullopt;
    const auto generation = fields.number("generation");
    fields.text(kChecksum);
    const json* part = fields.object("instance");
    auto instance = part != nullptr ? read_instance(*part, "instance", error) : std::nullopt;
    fields.refuse_others();
    if (!error.empty() || !instance) return std::nullopt;
    return InstanceRecord{std::move(*instance), generation};
}

}  // namespace

InstanceRecords::InstanceRecords(fs::path folder) : folder_(std::move(folder)) {
    make_record_folder(folder_);
}

fs::path InstanceRecords::path_of(const model::InstanceId& id) const {
    return record_path(folder_, id.str());
}

std::vector<InstanceRecord> InstanceRecords::left(const std::string& boot_id) const {
    std::vector<InstanceRecord> found;
    for (const auto& path : records_in(folder_)) {
        const auto text = files::read_whole(path, kLongest);
        auto record = text && *text ? record_in(**text) : std::nullopt;
        if (!record || path != path_of(record->instance.id)) {
            log::warn("{}: it is no whole record of an instance, and is removed", path.string());
        } else if (record->instance.attached && record->instance.attached->boot_id == boot_id) {
            found.push_back(std::move(*record));
        }
    }
    std::ranges::sort(found, {}, [](const auto& record) { return record.instance.id; });
    return found;
}

void InstanceRecords::drop_rest(const std::vector<InstanceRecord>& kept) {
    for (const auto& path : records_in(folder_)) {
        const auto is_kept = [&](const InstanceRecord& record) {
            return path == path_of(record.instance.id);
        };
        const auto id = model::InstanceId::parse(path.stem().string());
        if ((id && written_.find(*id) != nullptr) || std::ranges::any_of(kept, is_kept)) continue;
        std::error_code ignored;
        fs::remove(path, ignored);
    }
}

void InstanceRecords::update(const model::Node& node) {
    std::vector<model::InstanceId> again;
    model::for_each_difference(written_, node.instances(),
                               [&](const model::Instance* then, const model::Instance* now) {
                                   std::error_code ignored;
                                   if (now == nullptr)
                                       fs::remove(path_of(then->id), ignored);
                                   else if (now->attached && !write({*now, node.generation()}))
                                       again.push_back(now->id);
                               });
    written_ = node.instances();
    for (const auto& id : again) written_.remove(id);
}

bool InstanceRecords::write(const InstanceRecord& record) {
    const ordered_json document = {{"version", kStateVersion},
                                   {"generation", record.generation},
                                   {"instance", instance_json(record.instance)}};
    const auto text = sealed(document.dump(2, ' ', true, ordered_json::error_handler_t::replace) + "\n");
    const auto path = path_of(record.instance.id);
    // What is cut off by a crash has no seal, and the state has the instance then.
    const auto written = files::write_text(path, text);
    if (!written && !std::exchange(warned_, true))
        log::warn(
            "{} can't be written: {}. If the state is damaged while instances run, those without such a "
            "record are lost to it. Try: free space in its folder.",
            path.string(), written.error().why());
    if (written) {
        warned_ = false;
    } else {
        std::error_code ignored;
        fs::remove(path, ignored);
    }
    return written.has_value();
}

}  // namespace cgpu::store
