#include "client/cgpuctl/smi/request.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "client/cgpuctl/output/values.hpp"
#include "client/cgpuctl/smi/fields.hpp"
#include "core/model/quote.hpp"
#include "core/model/similar.hpp"

namespace cgpu::cgpuctl::smi {
namespace {

using client::ClientError;
using client::Result;
using What = Request::What;

/// cgpud takes its samples at this interval.
constexpr std::uint32_t kLeastMilliseconds = 100;
constexpr std::uint32_t kMostSeconds = 86400;

tl::unexpected<ClientError> refuse(const std::string& text) {
    return client::fail(ClientError::Kind::usage, "cgpu-smi " + text);
}

std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> parts;
    for (;;) {
        const auto comma = text.find(',');
        std::string_view part = text.substr(0, comma);
        while (part.starts_with(' ')) part.remove_prefix(1);
        while (part.ends_with(' ')) part.remove_suffix(1);
        parts.emplace_back(part);
        if (comma == std::string_view::npos) return parts;
        text.remove_prefix(comma + 1);
    }
}

/// What was read so far, and what can only be judged at the end.
struct Reader {
    Request request;
    std::string format;
    std::string what_option;  ///< the option that asked for another output than the tables

    Result<void> take(std::string_view option, const std::string& value);
    Result<void> take_loop(std::uint32_t number, std::uint32_t least, std::uint32_t most,
                           std::uint32_t unit_ms, std::string_view option);
    Result<void> set(What what, std::string_view option);
    Result<void> take_fields(std::string_view option, const std::string& value);
    Result<Request> finish();
};

struct Option {
    std::string_view name;
    std::string_view other;  ///< another name
    bool takes_value;
};

constexpr std::array kOptions = {
    Option{"--loop", "-l", true},          Option{"--loop-ms", "-lms", true},
    Option{"--count", "-c", true},         Option{"--id", "-i", true},
    Option{"--json", "", false},           Option{"--query-gpu", "", true},
    Option{"--query-instance", "", true},  Option{"--format", "", true},
    Option{"--help-query-gpu", "", false}, Option{"--help-query-instance", "", false},
    Option{"--help", "-h", false},         Option{"--version", "", false},
};

template <class Row>
Result<std::vector<std::string>> known_fields(std::string_view option, const std::string& list,
                                              std::span<const Field<Row>> fields) {
    std::vector<std::string_view> names;
    std::string all;
    for (const Field<Row>& field : fields) {
        names.push_back(field.name);
        all += (all.empty() ? "" : ", ") + std::string(field.name);
    }
    auto wanted = split(list);
    for (const std::string& name : wanted) {
        if (std::ranges::find(names, std::string_view(name)) != names.end()) continue;
        const auto likely = model::most_similar(name, names);
        return refuse(
            std::string(option) + ": there is no field " + model::quote(name) + ". Try: " +
            (likely.empty() ? "use some of these" : "use " + std::string(likely) + ", or others of these") +
            ": " + all + ".");
    }
    return wanted;
}

Result<void> Reader::set(What what, std::string_view option) {
    if (!what_option.empty() && what_option != option)
        return refuse(std::string(option) + ": it can't be combined with " + what_option +
                      ". Try: call cgpu-smi once for each.");
    what_option = option;
    request.what = what;
    return {};
}

Result<void> Reader::take_fields(std::string_view option, const std::string& value) {
    const bool of_gpus = option == "--query-gpu";
    auto fields =
        of_gpus ? known_fields(option, value, gpu_fields()) : known_fields(option, value, instance_fields());
    if (!fields) return tl::unexpected(fields.error());
    request.fields = std::move(*fields);
    return set(of_gpus ? What::query_gpu : What::query_instance, option);
}

Result<void> Reader::take_loop(std::uint32_t number, std::uint32_t least, std::uint32_t most,
                               std::uint32_t unit_ms, std::string_view option) {
    if (number < least || number > most)
        return refuse(std::string(option) + " " + std::to_string(number) + ": it is out of range. Try: use " +
                      std::to_string(least) + " to " + std::to_string(most) + ".");
    request.every = std::chrono::milliseconds{std::uint64_t{number} * unit_ms};
    return {};
}

Result<void> Reader::take(std::string_view option, const std::string& value) {
    if (option == "--query-gpu" || option == "--query-instance") return take_fields(option, value);
    if (option == "--json") return set(What::json, option);
    if (option == "--help") return set(What::help, option);
    if (option == "--version") return set(What::version, option);
    if (option == "--help-query-gpu") return set(What::help_query_gpu, option);
    if (option == "--help-query-instance") return set(What::help_query_instance, option);
    if (option == "--format") {
        format = value;
        return {};
    }
    if (option == "--id") {
        request.gpus = split(value);
        return {};
    }
    const auto number = read_count("cgpu-smi " + std::string(option), value);
    if (!number) return tl::unexpected(number.error());
    if (option == "--loop") return take_loop(*number, 1, kMostSeconds, 1000, option);
    if (option == "--loop-ms") return take_loop(*number, kLeastMilliseconds, kMostSeconds * 1000, 1, option);
    if (*number == 0) return refuse("--count 0: nothing would be read. Try: use 1 or more.");
    request.count = *number;
    return {};
}

Result<Request> Reader::finish() {
    if (request.count && !request.every)
        return refuse("--count: without an interval there is one reading. Try: add -l 1.");
    const bool query = request.what == What::query_gpu || request.what == What::query_instance;
    if (!query && !format.empty())
        return refuse(
            "--format: it is for queries only. Try: cgpu-smi --query-gpu=index,memory.used --format=csv.");
    if (query && format.empty())
        return refuse(what_option +
                      ": the format is missing. Try: add --format=csv, or --format=csv,noheader,nounits.");
    if (!query) return request;
    const auto words = split(format);
    const std::vector<std::string_view> known = {"csv", "noheader", "nounits"};
    for (const std::string& word : words)
        if (std::ranges::find(known, std::string_view(word)) == known.end())
            return refuse("--format " + model::quote(word) +
                          ": there is no such format. Try: use csv, and noheader and nounits behind it.");
    const auto has = [&words](std::string_view word) {
        return std::ranges::find(words, word) != words.end();
    };
    if (!has("csv"))
        return refuse("--format " + model::quote(format) + ": csv is missing in it. Try: --format=csv," +
                      format + ".");
    request.header = !has("noheader");
    request.units = !has("nounits");
    return request;
}

}  // namespace

Result<Request> read_request(const std::vector<std::string>& arguments) {
    Reader reader;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const auto equals = arguments[i].find('=');
        const std::string name = arguments[i].substr(0, equals);
        const auto* const option = std::ranges::find_if(kOptions, [&](const Option& each) {
            return !name.empty() && (each.name == name || each.other == name);
        });
        if (option == kOptions.end())
            return refuse(model::quote(name) + ": there is no such option. Try: cgpu-smi --help.");
        const std::string said(option->name);
        std::string value;
        if (equals != std::string::npos) {
            if (!option->takes_value) return refuse(said + ": it takes no value. Try: cgpu-smi --help.");
            value = arguments[i].substr(equals + 1);
        } else if (option->takes_value) {
            if (++i == arguments.size())
                return refuse(said + ": its value is missing. Try: cgpu-smi --help.");
            value = arguments[i];
        }
        if (const auto taken = reader.take(said, value); !taken) return tl::unexpected(taken.error());
    }
    return reader.finish();
}

}  // namespace cgpu::cgpuctl::smi
