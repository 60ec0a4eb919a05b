#include "client/cgpuctl/batch/batch.hpp"

#include <algorithm>
#include <map>

#include "client/cgpuctl/base/changes.hpp"
#include "client/cgpuctl/base/command_line.hpp"
#include "client/cgpuctl/base/verb.hpp"
#include "client/cgpuctl/base/words.hpp"
#include "core/model/quote.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::Change;
using Kind = ClientError::Kind;

tl::unexpected<ClientError> wrong(const std::string& what, const std::string& why,
                                  const std::string& remedy) {
    return client::fail(Kind::usage, what + ": " + why + ". Try: " + remedy + ".");
}

/// The words of a line, up to a comment. Error (usage): a quote isn't closed.
Result<std::vector<std::string>> words_of(std::string_view line) {
    std::vector<std::string> words;
    bool quoted = false;
    bool in_word = false;
    for (const char letter : line) {
        const bool blank = letter == ' ' || letter == '\t' || letter == '\r';
        if (!quoted && !in_word && letter == '#') break;
        if (!quoted && blank) {
            in_word = false;
            continue;
        }
        if (!in_word) words.emplace_back();
        in_word = true;
        if (letter == '"')
            quoted = !quoted;
        else
            words.back() += letter;
    }
    if (quoted)
        return wrong("the line", "its double quote is not closed", "write a second one after the word");
    return words;
}

using Changes = Result<std::vector<Change>>;

template <auto kWanted, class Own>
Changes changes_by(const Input& input, Result<Wanted> (*)(const Own&)) {
    return kWanted(dynamic_cast<const Own&>(input)).map([](Wanted read) { return std::move(read.changes); });
}

template <auto kWanted>
Changes changes_by(const Input& input) {
    return changes_by<kWanted>(input, kWanted);
}

/// A word that can be a GPU is one: which instances there are isn't known here.
Changes reverting(const Input& called) {
    const auto& input = dynamic_cast<const RevertInput&>(called);
    std::vector<Change> changes;
    for (const std::string& target : input.targets) {
        if (target == "mode" || target == "default-memory")
            return wrong(target, "a batch can't revert it", "give it a cgpuctl revert of its own");
        const bool is_gpu = names_a_gpu(target) && input.gpu.empty();
        Change& change = changes.emplace_back();
        change.instance = is_gpu ? "" : target;
        change.gpu = is_gpu ? target : input.gpu;
        change.revert = true;
    }
    return changes;
}

const std::map<std::string_view, Changes (*)(const Input&)>& readers() {
    static const std::map<std::string_view, Changes (*)(const Input&)> all = {
        {"drain", &changes_by<&wanted_drain>},
        {"pause", &changes_by<&wanted_pause>},
        {"resume", &changes_by<&wanted_resume>},
        {"revert", &reverting},
        {"set-max-inst", &changes_by<&wanted_max_inst>},
        {"set-memory", &changes_by<&wanted_memory>},
        {"set-policy", &changes_by<&wanted_policy>},
        {"set-priority", &changes_by<&wanted_priority>},
        {"set-prio-ratio", &changes_by<&wanted_prio_ratio>},
        {"set-weight", &changes_by<&wanted_weight>},
        {"undrain", &changes_by<&wanted_undrain>},
    };
    return all;
}

std::string known_verbs() {
    std::string text;
    for (const auto& [verb, read] : readers()) text += (text.empty() ? "" : ", ") + std::string(verb);
    return text;
}

/// Options of a whole batch, and those that would have no effect.
bool has_other_options(const Call& call) {
    return std::ranges::any_of(call.given, [](std::string_view option) { return option != "--gpu"; });
}

Changes changes_of(const std::vector<std::string>& words) {
    const auto reader = readers().find(words.front());
    if (reader == readers().end())
        return wrong(model::quote(words.front()), "a batch can't have it", "use one of " + known_verbs());
    const auto read = read_command_line(words);
    if (!read) return tl::unexpected(read.error());
    const auto* call = std::get_if<Call>(&*read);
    if (call == nullptr || has_other_options(*call))
        return wrong(words.front(), "of options it can only have --gpu here",
                     "give the others to cgpuctl apply, for the whole batch");
    return reader->second(*call->input);
}

std::string place(const std::string& name, std::size_t line) {
    return name + ":" + std::to_string(line) + ": ";
}

}  // namespace

Result<Batch> read_batch(std::string_view text, const std::string& name) {
    Batch batch;
    for (std::size_t line = 1; !text.empty(); ++line) {
        const auto end = std::min(text.find('\n'), text.size());
        const auto words = words_of(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (words && words->empty()) continue;
        auto changes = words ? changes_of(*words) : Changes(tl::unexpected(words.error()));
        if (!changes) {
            changes.error().text = place(name, line) + changes.error().text;
            return tl::unexpected(changes.error());
        }
        for (Change& change : *changes) {
            batch.changes.push_back(std::move(change));
            batch.lines.push_back(line);
        }
    }
    return batch;
}

Result<Batch> naming_every_gpu(const Batch& batch, const std::string& name, client::Node& node) {
    Batch named;
    for (std::size_t each = 0; each < batch.changes.size(); ++each) {
        const auto changes = for_each_gpu(batch.changes[each], node);
        if (!changes) {
            ClientError error = changes.error();
            error.text.insert(0, place(name, batch.lines[each]));
            return tl::unexpected(std::move(error));
        }
        named.changes.insert(named.changes.end(), changes->begin(), changes->end());
        named.lines.resize(named.changes.size(), batch.lines[each]);
    }
    return named;
}

ClientError name_line(ClientError error, const Batch& batch, const std::string& name) {
    if (const auto change = client::take_change_number(error, batch.lines.size()))
        error.text.insert(0, place(name, batch.lines[*change]));
    return error;
}

}  // namespace cgpu::cgpuctl
