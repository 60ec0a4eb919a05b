#include "daemon/config/validate.hpp"

#include <map>
#include <set>
#include <utility>

#include "core/model/quote.hpp"
#include "core/model/utf8.hpp"
#include "daemon/config/gpu_name.hpp"
#include "daemon/config/key_table.hpp"
#include "daemon/config/limits/limit_keys.hpp"
#include "daemon/config/limits/profile_keys.hpp"

namespace cgpu::config {
namespace {

template <typename T>
const T* find_key(std::span<const T> table, std::string_view name) {
    for (const T& key : table)
        if (key.name == name) return &key;
    return nullptr;
}

template <typename T>
void append_names(std::string& list, std::span<const T> table) {
    for (const T& key : table) list.append(list.empty() ? "" : ", ").append(key.name);
}

std::string top_level_names() {
    std::string names;
    append_names(names, gpu_keys());
    append_names(names, keys());
    return names + ", weights, gpus, profiles, limits";
}

std::string gpu_key_names() {
    std::string names;
    append_names(names, gpu_keys());
    return names;
}

constexpr const char* kNoSuchKey = "there is no such key";

class Validator {
  public:
    explicit Validator(Problems& problems) : problems_(problems) {}

    void take(const Entry& entry) {
        const std::string& top = entry.path.front();
        if (entry.is_empty)
            take_empty(entry);
        else if (top == "weights")
            take_weight(entry);
        else if (top == "gpus")
            take_gpu_setting(entry);
        else if (top == "profiles")
            take_profile(entry);
        else if (top == "limits")
            take_limit(entry);
        else
            take_top_level(entry);
    }

    /// One without memory would be no request for a part of a GPU.
    void check_profiles(const std::vector<Entry>& entries) {
        for (const Entry& entry : entries) {
            if (entry.path.size() < 2 || entry.path[0] != "profiles") continue;
            const auto found = config.profiles.find(entry.path[1]);
            // A faulty one may have what seems to be missing.
            if (found == config.profiles.end() || faulty_profiles_.contains(entry.path[1])) continue;
            if (request::exceeds_its_max(found->second)) {
                add(entry, "the profile asks for more than its max", "raise its max, or lower its values");
                found->second.max = {};  // said once
            }
            if (found->second.values.memory) continue;
            add(entry, "the profile has no memory", "a line such as mem: 4GiB besides");
            found->second.values.memory = model::Bytes();  // said once
        }
    }

    Config config;

  private:
    void add(const Entry& entry, const std::string& why, const std::string& remedy) {
        std::string what;
        for (const std::string& part : entry.path) what += (what.empty() ? "" : ".") + part;
        // Names come from files that people write; only unusual ones need quotes.
        const std::string quoted = model::quote(what);
        if (quoted != '"' + what + '"') what = quoted;
        if (!entry.is_empty) what += " = " + model::quote(entry.value);
        problems_.push_back(problem(entry.origin, what, why, remedy));
    }

    void check(const Entry& entry, const Taken& taken, std::string_view allowed) {
        if (!taken) add(entry, taken.error(), "use " + std::string(allowed));
    }

    /// A group whose lines are all commented out is fine; a key without a value is not.
    void take_empty(const Entry& entry) {
        const auto& path = entry.path;
        const std::string& top = path.front();
        const bool is_group = top == "weights" || top == "gpus" || top == "profiles" || top == "limits";
        if (path.size() == 1 && is_group) return;
        if (top == "limits" && path.size() < 4 && path[1] != "trust_declared_owners") {
            if (const auto taken = config::take_limits_group(path); !taken)
                add(entry, taken.error().why, taken.error().remedy);
            return;
        }
        if (top == "gpus" && path.size() == 2) return void(patch_for(entry));
        if (top == "profiles" && (path.size() == 2 || (path.size() == 3 && path[2] == "max"))) {
            config.profiles[path[1]];  // it has no memory yet
            return;
        }
        if (path.size() == 1 && find_key(keys(), top) == nullptr && find_key(gpu_keys(), top) == nullptr)
            return add(entry, kNoSuchKey, "use one of " + top_level_names());
        if (top == "profiles") faulty_profiles_.insert(path[1]);
        add(entry, kNoValue, kNoValueRemedy);
    }

    void take_top_level(const Entry& entry) {
        const auto* key = find_key(keys(), entry.path.front());
        const auto* gpu_key = find_key(gpu_keys(), entry.path.front());
        if (key == nullptr && gpu_key == nullptr) {
            add(entry, kNoSuchKey, "use one of " + top_level_names());
        } else if (entry.path.size() > 1) {
            add(entry, "this key has a single value and no keys below it",
                "use " + std::string(key != nullptr ? key->allowed : gpu_key->allowed));
        } else if (key != nullptr) {
            check(entry, key->take(config, entry.value), key->allowed);
        } else {
            GpuPatch patch;
            check(entry, gpu_key->take(patch, entry.value), gpu_key->allowed);
            patch.apply_to(config.gpu_defaults);
        }
    }

    void take_weight(const Entry& entry) {
        if (entry.path.size() != 2 || entry.path[1].empty())
            return add(entry, "each container's name has a weight of its own",
                       "write the key alone, and below it lines such as trainer: 4");
        if (model::valid_utf8(entry.path[1]) != entry.path[1] ||
            entry.path[1].find('\0') != std::string::npos)
            return add(entry, "no container has such a name", "write the name as docker ps shows it");
        const auto weight = read_weight(entry.value);
        if (!weight) return add(entry, weight.error(), std::string(kWeightAllowed));
        config.admission.weights[entry.path[1]] = *weight;
    }

    void take_limit(const Entry& entry) {
        if (const auto taken = config::take_limit(config.limits, entry.path, entry.value); !taken)
            add(entry, taken.error().why, taken.error().remedy);
    }

    void take_profile(const Entry& entry) {
        const auto taken = config::take_profile(config.profiles, entry.path, entry.value);
        if (taken) return;
        add(entry, taken.error().why, taken.error().remedy);
        if (entry.path.size() > 1) faulty_profiles_.insert(entry.path[1]);
    }

    void take_gpu_setting(const Entry& entry) {
        if (entry.path.size() != 3)
            return add(entry, "settings are given by GPU",
                       "gpus, below it an index or UUID, and below that " + gpu_key_names());
        GpuPatch* patch = patch_for(entry);
        if (patch == nullptr) return;
        const auto* key = find_key(gpu_keys(), entry.path[2]);
        if (key == nullptr)
            return add(entry, "a GPU has no such key of its own", "use one of " + gpu_key_names());
        check(entry, key->take(*patch, entry.value), key->allowed);
    }

    GpuPatch* patch_for(const Entry& entry) {
        const auto name = parse_gpu_name(entry.path[1]);
        if (!name) {
            add(entry, name.error(), "0, 1 or so, or a UUID that nvidia-smi -L shows");
            return nullptr;
        }
        // Of a UUID, capital letters are the same as small ones: nobody could tell which of the two counts.
        const auto [spelt, is_new] = spelt_.try_emplace({entry.origin.file, *name}, entry.path[1]);
        if (!is_new && spelt->second != entry.path[1]) {
            add(entry, "it is the GPU that this file has as " + model::quote(spelt->second) + ", too",
                "put all its settings below one of the two");
            return nullptr;
        }
        if (const auto* uuid = std::get_if<model::Uuid>(&*name)) return &config.gpus_by_uuid[*uuid];
        return &config.gpus_by_index[std::get<std::uint32_t>(*name)];
    }

    std::map<std::pair<std::string, GpuName>, std::string> spelt_;  ///< of each file, how it names its GPUs
    std::set<std::string> faulty_profiles_;
    Problems& problems_;
};

}  // namespace

Config validate(const std::vector<Entry>& entries, Problems& problems) {
    Validator validator(problems);
    for (const Entry& entry : entries) validator.take(entry);
    validator.check_profiles(entries);
    return std::move(validator.config);
}

}  // namespace cgpu::config
