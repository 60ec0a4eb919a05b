#include "daemon/store/state_json.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "daemon/store/json/instance_json.hpp"
#include "daemon/store/json/json_fields.hpp"
#include "daemon/store/json/kept_json.hpp"
#include "daemon/store/json/record_json.hpp"
#include "daemon/store/json/sealed_text.hpp"
#include "daemon/store/json/spent_json.hpp"
#include "daemon/store/migrate.hpp"

namespace cgpu::store {
namespace {

using model::Bytes;
using model::Gpu;
using model::Node;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* kRemedy =
    "restore the file from a backup, or move it away: settings are then those of the configuration, and "
    "instances that run are taken up again";

/// The settings that can be set by hand, by their names in the list.
constexpr std::array kByHand = {std::pair{"policy", &model::SetByHand::policy},
                                std::pair{"max_inst", &model::SetByHand::max_inst},
                                std::pair{"prio_ratio", &model::SetByHand::prio_ratio}};

void add_settings(ordered_json& gpu, const model::GpuSettings& settings) {
    gpu["policy"] = to_string(settings.policy);
    gpu["max_inst"] = settings.max_inst;
    gpu["prio_ratio"] = settings.prio_ratio;
    gpu["mode"] = to_string(settings.mode);
    gpu["by_hand"] = ordered_json::array();
    for (const auto& [name, member] : kByHand)
        if (settings.by_hand.*member) gpu["by_hand"].push_back(name);
}

ordered_json gpu_json(const Gpu& gpu) {
    ordered_json result = {{"uuid", gpu.uuid.to_string()}, {"index", gpu.index},
                           {"model_name", gpu.model_name}, {"total_bytes", gpu.total.count()},
                           {"obstacle", gpu.obstacle},     {"present", gpu.present},
                           {"drained", gpu.drained}};
    add_settings(result, gpu.settings);
    return result;
}

/// An empty object instead of the default memory: the configuration's.
ordered_json default_memory_json(std::optional<Bytes> bytes) {
    return bytes ? ordered_json{{"bytes", bytes->count()}} : ordered_json::object();
}

ordered_json until_reboot_json(const model::UntilReboot& until, const std::string& boot_id) {
    ordered_json result = {{"boot_id", boot_id}, {"gpus", ordered_json::array()}};
    for (const auto& [uuid, settings] : until.gpus) {
        ordered_json gpu = {{"uuid", uuid.to_string()}};
        add_settings(gpu, settings);
        result["gpus"].push_back(std::move(gpu));
    }
    if (until.default_memory) result["default_memory"] = default_memory_json(*until.default_memory);
    return result;
}

void read_settings(Fields& fields, model::GpuSettings& settings) {
    settings.policy = fields.parsed("policy", model::parse_policy).value_or(settings.policy);
    settings.max_inst = fields.number32("max_inst");
    settings.prio_ratio = fields.number32("prio_ratio");
    settings.mode = fields.parsed("mode", model::parse_mode).value_or(settings.mode);
    if (const json* list = fields.array("by_hand"))
        for (const json& name : *list) {
            const auto* const known =
                std::ranges::find_if(kByHand, [&](const auto& each) { return name == each.first; });
            if (known != kByHand.end())
                settings.by_hand.*known->second = true;
            else
                fields.fault("by_hand", "it names no setting of a GPU");
        }
}

Gpu read_gpu(const json& document, const std::string& place, std::string& error) {
    Fields fields(document, place, error);
    Gpu gpu;
    gpu.uuid = fields.parsed("uuid", model::Uuid::parse).value_or(model::Uuid());
    gpu.index = fields.number32("index");
    gpu.model_name = fields.text("model_name");
    gpu.total = Bytes(fields.number("total_bytes"));
    gpu.obstacle = fields.text("obstacle");
    gpu.present = fields.flag("present");
    gpu.drained = fields.flag("drained");
    read_settings(fields, gpu.settings);
    fields.refuse_others();
    return gpu;
}

Bytes read_default_memory(const json& document, const std::string& place, std::string& error) {
    Fields fields(document, place, error);
    const Bytes bytes(fields.number("bytes"));
    fields.refuse_others();
    return bytes;
}

model::UntilReboot read_until_reboot(const json& document, std::string& boot_id, std::string& error) {
    Fields fields(document, "until_reboot", error);
    model::UntilReboot until;
    boot_id = fields.text("boot_id");
    if (const json* list = fields.array("gpus")) {
        for (const json& gpu : *list) {
            Fields of_gpu(gpu, item(fields.place_of("gpus"), until.gpus.size()), error);
            const auto uuid = of_gpu.parsed("uuid", model::Uuid::parse);
            read_settings(of_gpu, until.gpus[uuid.value_or(model::Uuid())]);
            of_gpu.refuse_others();
        }
    }
    if (const json* part = fields.object_if_there("default_memory"))
        until.default_memory = part->empty()
                                   ? std::optional<Bytes>()
                                   : read_default_memory(*part, fields.place_of("default_memory"), error);
    fields.refuse_others();
    return until;
}

/// `line 3, column 7` of the `byte`-th byte, counted from 1.
std::string position(std::string_view text, std::size_t byte) {
    const std::string_view before = text.substr(0, byte == 0 ? 0 : byte - 1);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const auto start = before.rfind('\n');
    const std::size_t column = start == std::string_view::npos ? before.size() + 1 : before.size() - start;
    return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

tl::expected<json, Unreadable> parse(std::string_view text) {
    if (text.empty()) return tl::unexpected(Unreadable{"the file is empty", kRemedy});
    try {
        return json::parse(text);
    } catch (const json::parse_error& error) {
        const bool cut_off = error.byte > text.size();
        return tl::unexpected(Unreadable{"it is not whole JSON at " + position(text, error.byte) +
                                             (cut_off ? " (it is cut off there)" : ""),
                                         kRemedy});
    } catch (const json::exception&) {
        return tl::unexpected(Unreadable{"a number in it is out of range", kRemedy});
    }
}

std::string line_of(const ordered_json& entry) {
    return entry.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
}

/// Appends the document up to the list of this name, which is empty in it, and the list's entries, each a
/// line. Returns the rest of the document.
template <class Entries, class Line>
std::string_view fill(std::string& text, std::string_view document, const std::string& name,
                      const Entries& entries, Line line) {
    // A line end in a string is escaped, so this is the document's own.
    const std::string key = "\n  \"" + name + "\": [";
    const auto place = document.find(key + "]") + key.size();
    text += document.substr(0, place);
    const char* before = "\n    ";
    for (const auto& entry : entries)
        text.append(std::exchange(before, ",\n    ")) += std::invoke(line, entry);
    if (!entries.empty()) text += "\n  ";
    return document.substr(place);
}

/// Whether the text's checksum, if it has one, is right. It is judged before the version is: a wrong bit may
/// be in that.
tl::expected<void, Unreadable> check_seal(const json& document, std::string_view text) {
    const Seal seal = seal_of(text);
    if (seal == Seal::whole || !document.is_object() || !document.contains(kChecksum)) return {};
    return tl::unexpected(
        Unreadable{"its checksum is not that of its content: it was damaged, or changed by hand",
                   "restore the file from a backup. After a change by hand, remove its field checksum"});
}

/// Migrates the document to the newest version.
tl::expected<void, Unreadable> bring_up_to_date(json& document, const Layouts& layouts) {
    if (!document.is_object() || !document.contains("version") || !document["version"].is_number_unsigned())
        return tl::unexpected(Unreadable{"it has no version, so it is not a state of cgpud", kRemedy});
    const auto version = document["version"].get<std::uint64_t>();
    if (version > layouts.newest)
        return tl::unexpected(
            Unreadable{"it is of version " + std::to_string(version) +
                           " and this cgpud knows versions up to " + std::to_string(layouts.newest),
                       "start the newer cgpud that wrote it, or move it away to start with an empty state",
                       Unreadable::Kind::other_version});
    if (!migrate(document, version, layouts))
        return tl::unexpected(
            Unreadable{"it is of version " + std::to_string(version) + ", which is not known", kRemedy,
                       Unreadable::Kind::other_version});
    return {};
}

}  // namespace

std::string write_state(const State& state) { return StateText().of(state); }

/// Made one by one: the JSON of all instances of a full node takes a megabyte of the heap.
void StateText::instances(const model::Instances& instances) {
    std::vector<InstanceLine> next;
    next.reserve(instances.size());
    auto known = instances_.begin();
    for (const auto& [id, instance] : instances) {
        const bool is_next = known != instances_.end() && known->instance.get() == &instance;
        while (!is_next && known != instances_.end() && known->instance->id < id) ++known;
        if (known != instances_.end() && known->instance.get() == &instance)
            next.push_back(std::move(*known++));
        else
            next.push_back({instances.share(id), line_of(instance_json(instance))});
    }
    instances_ = std::move(next);
}

/// Seldom one of them changes.
void StateText::gpus(const std::vector<Gpu>& gpus) {
    if (gpus == gpus_) return;
    gpu_lines_.clear();
    for (const Gpu& gpu : gpus) gpu_lines_.push_back(line_of(gpu_json(gpu)));
    gpus_ = gpus;
}

void StateText::kept(const model::Shared<model::Kept>& kept) {
    if (kept.is(kept_)) return;
    kept_lines_.clear();
    for (const auto& entry : kept_json(kept.get())) kept_lines_.push_back(line_of(entry));
    kept_ = kept;
}

std::string StateText::filled(std::string_view document) {
    std::size_t size = document.size() + 2048;  // with the checksum, and what fills a file up
    for (const auto& [instance, line] : instances_) size += line.size() + 6;
    for (const auto* lines : {&gpu_lines_, &kept_lines_})
        for (const auto& line : *lines) size += line.size() + 6;
    std::string text = std::exchange(memory_, {});
    text.clear();
    text.reserve(size);
    auto rest = fill(text, document, "gpus", gpu_lines_, std::identity());
    rest = fill(text, rest, "instances", instances_, &InstanceLine::line);
    rest = fill(text, rest, "kept", kept_lines_, std::identity());
    text += rest;
    return text;  // moved, which a reference to it would not be
}

std::string StateText::of(const State& state) {
    const Node& node = state.node;
    ordered_json document = {{"version", kStateVersion}, {"generation", node.generation()}};
    document["gpus"] = ordered_json::array();
    document["instances"] = ordered_json::array();
    document["kept"] = ordered_json::array();
    if (node.default_memory()) document["default_memory"] = default_memory_json(node.default_memory());
    if (!node.until_reboot().empty())
        document["until_reboot"] = until_reboot_json(node.until_reboot(), node.boot_id());
    if (!node.spent().empty()) {
        document["spent"] = ordered_json::array();
        for (const auto& spent : node.spent()) document["spent"].push_back(spent_json(spent));
    }
    document["upgrade"] = record_json(state.record);
    gpus(node.gpus());
    instances(node.instances());
    kept(node.share_kept());
    return sealed(filled(document.dump(2, ' ', true, ordered_json::error_handler_t::replace) + "\n"));
}

tl::expected<State, Unreadable> read_state(std::string_view text, const Layouts& layouts) {
    auto document = parse(text);
    if (!document) return tl::unexpected(document.error());
    if (auto whole = check_seal(*document, text); !whole) return tl::unexpected(whole.error());
    if (auto current = bring_up_to_date(*document, layouts); !current) return tl::unexpected(current.error());
    std::string error;
    Fields fields(*document, "", error);
    fields.number("version");
    if (document->contains(kChecksum)) fields.text(kChecksum);
    const std::uint64_t generation = fields.number("generation");
    std::vector<Gpu> gpus;
    if (const json* list = fields.array("gpus"))
        for (const json& gpu : *list) gpus.push_back(read_gpu(gpu, item("gpus", gpus.size()), error));
    std::vector<model::Instance> instances;
    if (const json* list = fields.array("instances"))
        for (const json& instance : *list)
            if (auto read = read_instance(instance, item("instances", instances.size()), error))
                instances.push_back(std::move(*read));
    model::Kept kept;
    if (const json* list = fields.array("kept")) kept = read_kept(*list, "kept", error);
    std::optional<Bytes> default_memory;
    if (const json* part = fields.object_if_there("default_memory"))
        default_memory = read_default_memory(*part, "default_memory", error);
    model::UntilReboot until_reboot;
    std::string boot_id;
    if (const json* part = fields.object_if_there("until_reboot"))
        until_reboot = read_until_reboot(*part, boot_id, error);
    model::SpentList spent;
    if (document->contains("spent"))
        if (const json* list = fields.array("spent")) spent = read_spent(*list, "spent", error);
    upgrade::Record record;
    if (const json* part = fields.object("upgrade")) record = read_record(*part, "upgrade", error);
    fields.refuse_others();
    if (!error.empty()) return tl::unexpected(Unreadable{error, kRemedy});
    auto node = Node::restore(generation, std::move(gpus), std::move(instances), std::move(kept),
                              default_memory, std::move(until_reboot), std::move(boot_id), std::move(spent));
    if (!node) return tl::unexpected(Unreadable{"it contradicts itself: " + node.error().text, kRemedy});
    return State{std::move(*node), std::move(record)};
}

}  // namespace cgpu::store
