#include "client/cgpuctl/output/values.hpp"

#include <charconv>

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
    if (error != std::errc{} || stopped != end)
        return client::fail(Kind::usage, what + " " + model::quote(text) +
                                             ": it is not a whole number. Try: use digits only, such as 4.");
    return value;
}

}  // namespace

client::Result<std::uint32_t> read_count(const std::string& what, const std::string& text) {
    return read<std::uint32_t>(what, text);
}

client::Result<std::uint64_t> read_number(const std::string& what, const std::string& text) {
    return read<std::uint64_t>(what, text);
}

client::Result<model::Bytes> read_size(const std::string& what, const std::string& text) {
    const auto size = model::parse_size(text);
    if (!size)
        return client::fail(
            Kind::usage, what + " " + model::quote(text) + ": " + size.error() + ". Try: 5120MiB or 4GiB.");
    return *size;
}

}  // namespace cgpu::cgpuctl
