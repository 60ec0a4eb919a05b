#include "client/cgpuctl/output/values.hpp"

#include <charconv>
#include <limits>

#include "core/model/gpu.hpp"
#include "core/model/quote.hpp"
#include "core/model/size.hpp"

namespace cgpu::cgpuctl {

using Kind = client::ClientError::Kind;

namespace {

template <class T>
client::Result<T> read(const std::string& what, const std::string& text) {
    T value = 0;
    const char* end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc::result_out_of_range && stopped == end)
        return client::fail(Kind::usage, what + " " + model::quote(text) + ": it is too large. Try: " +
                                             std::to_string(std::numeric_limits<T>::max()) + " at most.");
    if (error != std::errc{} || stopped != end)
        return client::fail(Kind::usage, what + " " + model::quote(text) +
                                             ": it is not a whole number. Try: use digits only, such as 4.");
    return value;
}

}  // namespace

client::Result<std::uint32_t> read_count(const std::string& what, const std::string& text) {
    return read<std::uint32_t>(what, text);
}

client::Result<std::uint32_t> read_count_in(const std::string& what, const std::string& text,
                                            std::uint32_t least, std::uint32_t most) {
    auto value = read_count(what, text);
    if (!value || (*value >= least && *value <= most)) return value;
    return client::fail(Kind::usage, what + " " + text + ": it is out of range. Try: " +
                                         std::to_string(least) + " to " + std::to_string(most) + ".");
}

client::Result<std::uint64_t> read_number(const std::string& what, const std::string& text) {
    return read<std::uint64_t>(what, text);
}

client::Result<Weight> read_weight(const std::string& text) {
    const bool per_cent = text.ends_with('%');
    const auto number = read<std::uint32_t>("weight", per_cent ? text.substr(0, text.size() - 1) : text);
    if (!number)
        return client::fail(Kind::usage, "weight " + model::quote(text) +
                                             ": it is neither a whole number of slices nor of per cent. Try: "
                                             "4, or 25%.");
    const std::uint32_t most = per_cent ? 100 : model::kMaxMaxInst;
    if ((per_cent && *number < 1) || *number > most)
        return client::fail(Kind::usage, "weight " + text + ": it is out of range. Try: 1 to " +
                                             std::to_string(most) +
                                             (per_cent ? "%." : ", or 0, which pauses it."));
    if (per_cent) return Weight{std::nullopt, *number};
    return Weight{*number, std::nullopt};
}

client::Result<model::Bytes> read_size(const std::string& what, const std::string& text) {
    const auto size = model::parse_size(text);
    if (!size)
        return client::fail(
            Kind::usage, what + " " + model::quote(text) + ": " + size.error() + ". Try: 5120MiB or 4GiB.");
    return *size;
}

}  // namespace cgpu::cgpuctl
