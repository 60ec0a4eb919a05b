#include "client/cgpuctl/base/settings.hpp"

#include "client/cgpuctl/output/values.hpp"

namespace cgpu::cgpuctl {
namespace {

client::Result<std::optional<std::uint64_t>> generation_of(const Input& input) {
    if (input.if_generation.empty()) return std::nullopt;
    return read_number("generation", input.if_generation).map([](std::uint64_t number) {
        return std::optional(number);
    });
}

}  // namespace

client::Result<client::Setup> setup_of(const Input& input) {
    return generation_of(input).map([&](const auto& generation) {
        return client::Setup{input.dry_run, input.runtime, generation};
    });
}

client::Result<client::Setting> setting_of(const Input& input) {
    return generation_of(input).map([&](const auto& generation) {
        return client::Setting{input.persist, input.force, input.dry_run, generation};
    });
}

}  // namespace cgpu::cgpuctl
