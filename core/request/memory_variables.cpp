#include "core/request/memory_variables.hpp"

#include <algorithm>

#include "core/model/size.hpp"
#include "core/request/variables.hpp"

namespace cgpu::request {
namespace {

using model::Bytes;
using model::Refusal;
using Kind = MemoryWish::Kind;
using Result = tl::expected<MemoryWish, Refusal>;

/// No card has this many GiB (1 PiB); the bound keeps sums and products far from an overflow.
constexpr std::uint64_t kMaxGib = std::uint64_t{1} << 20;
constexpr Bytes kMaxMemory = Bytes::from_gib(kMaxGib);

/// Reads a list with a reader for each entry; an empty value is the node's default, a zero anywhere is `off`.
template <typename Reader>
Result read_list(const Variables& variables, std::string_view name, Reader read_entry) {
    const auto text = find_trimmed(variables, name);
    if (!text) return MemoryWish{};
    if (text->empty()) return MemoryWish{Kind::node_default, {}, false};
    MemoryWish wish{Kind::listed, {}, false};
    bool zero = false;
    for (const std::string_view entry : split_list(*text)) {
        tl::expected<MemoryAsk, Refusal> ask = read_entry(entry, *text);
        if (!ask) return tl::unexpected(ask.error());
        zero = zero || *ask == MemoryAsk(Bytes{});
        wish.per_gpu.push_back(*ask);
    }
    if (zero) return MemoryWish{Kind::off, {}, false};
    return wish;
}

/// Whether GiB of a card are counted in MiB, as the open device plugin for Kubernetes can be told to.
tl::expected<bool, Refusal> counts_in_mib(const Variables& variables) {
    const auto unit = find_value(variables, names::kMemUnit);
    if (!unit || *unit == "GiB") return false;
    if (*unit == "MiB") return true;
    return refuse_value(names::kMemUnit, *unit, "it is neither MiB nor GiB", "MiB or GiB");
}

/// What the card of each GPU counts as, in GiB; the last one repeats. Empty: the variable is absent or empty.
tl::expected<std::vector<std::uint64_t>, Refusal> read_devs(const Variables& variables) {
    const auto text = find_value(variables, names::kMemDev);
    std::vector<std::uint64_t> devs;
    if (!text) return devs;
    for (const std::string_view entry : split_list(*text)) {
        const auto gib = to_number(entry);
        if (!gib || *gib < 1 || *gib > kMaxGib)
            return refuse_value(names::kMemDev, *text, "it is no number of GiB (or MiB), nor a list of them",
                                "for example 15 (each card) or 15,31 (GPU by GPU)");
        devs.push_back(*gib);
    }
    return devs;
}

/// Says for each share what its card counts as; the longer of the two lists decides for how many GPUs.
void set_devs(std::vector<MemoryAsk>& per_gpu, const std::vector<std::uint64_t>& devs, bool in_mib) {
    for (MemoryAsk& ask : per_gpu)
        if (auto* share = std::get_if<CardShare>(&ask)) share->in_mib = in_mib;
    if (devs.empty()) return;
    per_gpu.resize(std::max(per_gpu.size(), devs.size()), per_gpu.back());
    for (std::size_t i = 0; i < per_gpu.size(); ++i)
        if (auto* share = std::get_if<CardShare>(&per_gpu[i]))
            share->dev = devs[std::min(i, devs.size() - 1)];
}

Result read_container(const Variables& variables) {
    auto wish = read_list(
        variables, names::kMemContainer,
        [](std::string_view entry, std::string_view all) -> tl::expected<MemoryAsk, Refusal> {
            const auto gib = to_number(entry);
            if (!gib || *gib > kMaxGib)
                return refuse_value(names::kMemContainer, all, "it is not a number of GiB or a list of them",
                                    "for example 3 (on each GPU) or 3,4,5,6 (GPU by GPU)");
            if (*gib == 0) return Bytes{};
            return CardShare{*gib, std::nullopt};
        });
    // The DEV variable is only checked for a container that is managed.
    if (!wish || wish->kind != Kind::listed) return wish;
    const auto devs = read_devs(variables);
    if (!devs) return tl::unexpected(devs.error());
    const auto in_mib = counts_in_mib(variables);
    if (!in_mib) return tl::unexpected(in_mib.error());
    set_devs(wish->per_gpu, *devs, *in_mib);
    return wish;
}

Result read_exact(const Variables& variables) {
    return read_list(variables, names::kMem,
                     [](std::string_view entry, std::string_view all) -> tl::expected<MemoryAsk, Refusal> {
                         const auto size = model::parse_size(entry);
                         if (!size)
                             return refuse_value(names::kMem, all, size.error(),
                                                 "for example 5120MiB or 4GiB");
                         if (*size > kMaxMemory)
                             return refuse_value(names::kMem, all, "no card has that much",
                                                 "request at most what one card has");
                         if (size->count() % Bytes::kPerMib != 0)
                             return refuse_value(names::kMem, all, "it is not a whole number of MiB",
                                                 "for example 5120MiB or 4GiB");
                         return *size;
                     });
}

Result read_huawei(const Variables& variables) {
    constexpr std::uint64_t kMibPerUnit = 128;
    const auto units = read_number(variables, names::kVolcanoMem, 0, kMaxGib * 1024 / kMibPerUnit);
    if (!units) return tl::unexpected(units.error());
    if (!*units) return MemoryWish{};
    if (**units == 0) return MemoryWish{Kind::off, {}, false};
    return MemoryWish{Kind::listed, {Bytes::from_mib(**units * kMibPerUnit)}, true};
}

Result read_divided(const Variables& variables, std::uint32_t gpu_count) {
    const auto total = read_number(variables, names::kAliyunMem, 0, kMaxGib);
    if (!total) return tl::unexpected(total.error());
    if (!*total) return MemoryWish{};
    if (**total == 0) return MemoryWish{Kind::off, {}, false};
    if (**total % gpu_count != 0) {
        const std::uint32_t below = **total / gpu_count * gpu_count;
        const std::string count = std::to_string(gpu_count);
        return refuse_value(names::kAliyunMem, std::to_string(**total),
                            "GiB over " + count + " GPUs is not a whole number of GiB on each",
                            (below > 0 ? std::to_string(below) + " or " : "") +
                                std::to_string(below + gpu_count) + " (in GiB) for " + count + " GPUs");
    }
    const auto devs = read_devs(variables);
    if (!devs) return tl::unexpected(devs.error());
    const auto in_mib = counts_in_mib(variables);
    if (!in_mib) return tl::unexpected(in_mib.error());
    MemoryWish wish{Kind::listed, {CardShare{**total / gpu_count, std::nullopt}}, false};
    set_devs(wish.per_gpu, *devs, *in_mib);
    return wish;
}

/// The amount in a form in which both kinds can be compared: GiB of a card count as GiB.
Bytes nominal(const MemoryAsk& ask) {
    if (const auto* share = std::get_if<CardShare>(&ask))
        return share->in_mib ? Bytes::from_mib(share->gib) : Bytes::from_gib(share->gib);
    return std::get<Bytes>(ask);
}

bool same_amounts(const MemoryWish& a, const MemoryWish& b) {
    const std::size_t length = std::max(a.per_gpu.size(), b.per_gpu.size());
    for (std::size_t i = 0; i < length; ++i)
        if (nominal(a.per_gpu[std::min(i, a.per_gpu.size() - 1)]) !=
            nominal(b.per_gpu[std::min(i, b.per_gpu.size() - 1)]))
            return false;
    return true;
}

bool is_exact(const MemoryWish& wish) { return std::holds_alternative<Bytes>(wish.per_gpu.front()); }

struct Source {
    std::string_view name;
    MemoryWish wish;
};

/// Merges `next` into what was read so far; `said` is its source.
tl::expected<void, Refusal> merge(const Variables& variables, Source& said, const Source& next) {
    const Kind kind = next.wish.kind;
    if (kind == Kind::absent) return {};
    // An empty value is the weakest: it only counts if nothing else is set.
    if (said.wish.kind == Kind::absent || said.wish.kind == Kind::node_default) {
        if (kind != Kind::node_default || said.wish.kind == Kind::absent) said = next;
        return {};
    }
    if (kind == Kind::node_default) return {};
    if (kind != said.wish.kind) return refuse_conflict(variables, said.name, next.name);
    if (kind == Kind::off) return {};
    if (!same_amounts(said.wish, next.wish)) return refuse_conflict(variables, said.name, next.name);
    const std::size_t length = std::max(said.wish.per_gpu.size(), next.wish.per_gpu.size());
    if (!is_exact(said.wish) && is_exact(next.wish)) said = next;
    said.wish.per_gpu.resize(length, said.wish.per_gpu.back());
    said.wish.huawei_only = false;
    return {};
}

}  // namespace

tl::expected<MemoryWish, Refusal> read_memory(const Variables& variables, std::uint32_t gpu_count) {
    Source said{names::kMemContainer, {}};
    const auto add = [&](std::string_view name, Result wish) -> tl::expected<void, Refusal> {
        if (!wish) return tl::unexpected(wish.error());
        return merge(variables, said, Source{name, *wish});
    };
    return add(names::kMemContainer, read_container(variables))
        .and_then([&] { return add(names::kMem, read_exact(variables)); })
        .and_then([&] { return add(names::kVolcanoMem, read_huawei(variables)); })
        .and_then([&] { return add(names::kAliyunMem, read_divided(variables, gpu_count)); })
        .map([&] { return said.wish; });
}

}  // namespace cgpu::request
