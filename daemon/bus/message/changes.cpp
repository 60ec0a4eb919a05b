#include "daemon/bus/message/changes.hpp"

#include <string>

#include "core/model/quote.hpp"

namespace cgpu::bus {
namespace {

using Reason = model::Refusal::Reason;

/// The keys of one change, which are taken out of it.
class Fields {
  public:
    explicit Fields(OptionMap fields) : fields_(std::move(fields)) {}

    [[nodiscard]] bool has(const char* key) const { return fields_.contains(key); }

    /// Empty: the change doesn't have it, or another type (which refusal() says).
    template <class T>
    std::optional<T> take(const char* key, const char* type) {
        known_.emplace_back(key);
        const auto field = fields_.extract(key);
        if (field.empty()) return std::nullopt;
        if (field.mapped().template containsValueOfType<T>()) return field.mapped().template get<T>();
        if (refusal_.text.empty())
            refusal_ = model::make_refusal(Reason::invalid, "key " + model::quote(key),
                                           "its type is " + std::string(field.mapped().peekValueType()),
                                           std::string("give it as ") + type);
        return std::nullopt;
    }

    /// After all known keys were taken. Empty text: there is nothing to refuse.
    [[nodiscard]] model::Refusal refusal() const {
        if (!refusal_.text.empty() || fields_.empty()) return refusal_;
        std::string known;
        for (const auto& key : known_) known += (known.empty() ? "" : ", ") + key;
        return model::make_refusal(Reason::invalid, "key " + model::quote(fields_.begin()->first),
                                   "a change of this kind doesn't have it", "use one of " + known);
    }

  private:
    OptionMap fields_;
    std::vector<std::string> known_;
    model::Refusal refusal_;
};

app::GpuChange read_gpu_change(Fields& fields) {
    app::GpuChange change;
    change.gpu = fields.take<std::string>("gpu", "s").value_or("");
    change.policy = fields.take<std::string>("policy", "s");
    change.max_inst = fields.take<std::uint32_t>("max-inst", "u");
    change.prio_ratio = fields.take<std::uint32_t>("prio-ratio", "u");
    change.drained = fields.take<bool>("drained", "b");
    change.revert = fields.take<bool>("revert", "b").value_or(false);
    return change;
}

app::QuotaChange read_quota_change(Fields& fields) {
    app::QuotaChange change;
    change.instance = fields.take<std::string>("instance", "s").value_or("");
    change.gpu = fields.take<std::string>("gpu", "s").value_or("");
    if (const auto bytes = fields.take<std::uint64_t>("memory-limit", "t"))
        change.memory_limit = model::Bytes(*bytes);
    change.weight = fields.take<std::uint32_t>("weight", "u");
    change.percent = fields.take<std::uint32_t>("percentage", "u");
    change.high_priority = fields.take<bool>("high-priority", "b");
    change.paused = fields.take<bool>("paused", "b");
    change.revert = fields.take<bool>("revert", "b").value_or(false);
    return change;
}

/// Each setting that the change has, by the method that sets it.
std::vector<const char*> methods_of(const app::GpuChange& change) {
    std::vector<const char*> all;
    if (change.policy) all.push_back("SetPolicy");
    if (change.max_inst) all.push_back("SetMaxInst");
    if (change.prio_ratio) all.push_back("SetPrioRatio");
    if (change.drained) all.push_back("SetDrained");
    if (change.revert) all.push_back("Revert");
    return all;
}

std::vector<const char*> methods_of(const app::QuotaChange& change) {
    std::vector<const char*> all;
    if (change.memory_limit) all.push_back("SetMemory");
    if (change.weight || change.percent) all.push_back("SetWeight");
    if (change.high_priority) all.push_back("SetHighPriority");
    if (change.paused) all.push_back("SetPaused");
    if (change.revert) all.push_back("Revert");
    return all;
}

}  // namespace

const char* method_of(const std::vector<app::NodeChange>& changes) {
    if (changes.size() != 1) return "Apply";
    const auto all = std::visit([](const auto& change) { return methods_of(change); }, changes.front());
    return all.size() == 1 ? all.front() : "Apply";
}

app::Result<std::vector<app::NodeChange>> read_changes(const std::vector<OptionMap>& given) {
    std::vector<app::NodeChange> changes;
    for (const OptionMap& each : given) {
        const std::string which = "change " + std::to_string(changes.size() + 1);
        Fields fields(each);
        if (fields.has("instance"))
            changes.emplace_back(read_quota_change(fields));
        else if (fields.has("gpu"))
            changes.emplace_back(read_gpu_change(fields));
        else
            return model::refuse(Reason::invalid, which, "it names nothing to change",
                                 "give it the key gpu or the key instance");
        if (const auto refusal = fields.refusal(); !refusal.text.empty())
            return tl::unexpected(model::Refusal{refusal.reason, which + ": " + refusal.text});
    }
    return changes;
}

}  // namespace cgpu::bus
