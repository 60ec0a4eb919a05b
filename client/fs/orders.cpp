#include "client/fs/orders.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <utility>

#include "core/model/quote.hpp"
#include "core/model/trimmed.hpp"

namespace cgpu::fs {
namespace {

using client::Change;

constexpr std::string_view kBlanks = " \t\r\n";

template <class Number>
std::optional<Number> number(std::string_view text) {
    Number value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// The order that `make` makes of a number.
template <class Number, class Make>
tl::expected<Order, int> by_number(std::string_view text, Make make) {
    const auto value = number<Number>(text);
    if (!value) return tl::unexpected(EINVAL);
    return make(*value);
}

/// `0012b2edccd7a`: an instance on GPU 0; `-012b2edccd7a`: the end of one.
tl::expected<Order, int> instance_order(const client::Snapshot& node, std::string_view text) {
    constexpr std::size_t kIdLength = 12;
    if (text.size() < kIdLength + 1) return tl::unexpected(EINVAL);
    if (text.starts_with('-')) return ReleaseInstance{std::string(text.substr(1))};
    const auto index = number<std::uint32_t>(text.substr(0, text.size() - kIdLength));
    if (!index) return tl::unexpected(EINVAL);
    const auto gpu = std::ranges::find_if(
        node.gpus, [&](const client::Gpu& each) { return each.present && each.index == *index; });
    if (gpu == node.gpus.end()) return tl::unexpected(ENOENT);
    return CreateInstance{std::string(text.substr(text.size() - kIdLength)), gpu->uuid};
}

tl::expected<Order, int> upgrade_order(std::string_view text) {
    const auto blank = text.find_first_of(kBlanks);
    const auto kind = text.substr(0, blank);
    if (blank == std::string_view::npos || (kind != "hot" && kind != "cold")) return tl::unexpected(EINVAL);
    return UpgradeModule{kind == "hot", std::string(model::trimmed(text.substr(blank)))};
}

/// Nobody starts a program for such an instance: cgpud takes it as one that is still to be attached.
client::Result<void> create(const CreateInstance& order, client::Node& node) {
    const auto created = node.create_instance(
        {order.id,
         order.id,
         "",
         {{"ALIYUN_COM_GPU_VISIBLE_DEVICES", order.gpu}, {"ALIYUN_COM_GPU_MEM_CONTAINER", ""}}});
    if (!created) return tl::unexpected(created.error());
    if (!created->quotas.empty()) return {};
    client::ClientError none{client::ClientError::Kind::refused,
                             "inst_ctl: it gives an instance the node's default memory, and that is 0. Try: "
                             "write a size in bytes to default_memsize first."};
    none.reason = "Invalid";
    return tl::unexpected(std::move(none));
}

template <class Value>
client::Result<void> only_whether(const client::Result<Value>& result) {
    if (!result) return tl::unexpected(result.error());
    return {};
}

struct CarryOut {
    client::Node& node;

    client::Result<void> operator()(const client::Change& change) const {
        return only_whether(node.apply({change}, {}));
    }
    client::Result<void> operator()(const SetDefaultMemory& order) const {
        return node.set_default_memory(order.bytes, {});
    }
    client::Result<void> operator()(const CreateInstance& order) const { return create(order, node); }
    client::Result<void> operator()(const ReleaseInstance& order) const {
        const auto id = node.find_instance(order.id);
        if (!id) return tl::unexpected(id.error());
        // cGPU's contract names ids only.
        if (!id->starts_with(order.id)) {
            client::ClientError none{client::ClientError::Kind::not_found,
                                     "inst_ctl: " + model::quote(order.id) +
                                         " begins no instance's id. Try: use the name of its folder."};
            none.reason = "NotFound";
            return tl::unexpected(std::move(none));
        }
        return node.release_instance(*id);
    }
    client::Result<void> operator()(const UpgradeModule& order) const {
        client::Upgrade wanted;
        wanted.hot = order.hot;
        wanted.version = order.version;
        return only_whether(node.begin_upgrade(wanted));
    }
};

}  // namespace

tl::expected<Order, int> read_order(const client::Snapshot& node, const Place& place, std::string_view text) {
    text = model::trimmed(text);
    if (place.file == nullptr) return tl::unexpected(EISDIR);
    const std::string gpu = place.gpu == nullptr ? "" : place.gpu->uuid;
    const std::string instance = place.instance == nullptr ? "" : place.instance->id;
    switch (place.file->file) {
        case File::default_memsize:
            return by_number<std::uint64_t>(text, [](auto bytes) { return SetDefaultMemory{bytes}; });
        case File::inst_ctl:
            return instance_order(node, text);
        case File::upgrade:
            return upgrade_order(text);
        case File::max_inst:
            return by_number<std::uint32_t>(
                text, [&](auto count) { return Change{.instance = "", .gpu = gpu, .max_inst = count}; });
        case File::policy:
            if (text.empty()) return tl::unexpected(EINVAL);
            return Change{.instance = "", .gpu = gpu, .policy = std::string(text)};
        case File::prio_ratio:
            return by_number<std::uint32_t>(
                text, [&](auto cent) { return Change{.instance = "", .gpu = gpu, .prio_ratio = cent}; });
        case File::highprio:
            if (text != "0" && text != "1") return tl::unexpected(EINVAL);
            return Change{.instance = instance, .gpu = gpu, .high_priority = text == "1"};
        case File::memsize:
            return by_number<std::uint64_t>(text, [&](auto bytes) {
                return Change{.instance = instance, .gpu = gpu, .memory_limit = bytes};
            });
        case File::weight:
            return by_number<std::uint32_t>(text, [&](auto weight) {
                return Change{.instance = instance, .gpu = gpu, .weight = weight};
            });
        case File::version:
        case File::free_weight:
        case File::major:
        case File::id:
        case File::meminfo:
            break;
    }
    return tl::unexpected(EACCES);
}

client::Result<void> carry_out(const Order& order, client::Node& node) {
    return std::visit(CarryOut{node}, order);
}

int errno_of(const client::ClientError& error) {
    static constexpr std::array<std::pair<std::string_view, int>, 10> kOfReasons = {
        {{"Invalid", EINVAL},
         {"NotFound", ENOENT},
         {"Exists", EEXIST},
         {"Busy", EBUSY},
         {"NoSpace", ENOSPC},
         {"NoMemory", ENOMEM},
         {"NotAuthorized", EPERM},
         {"Unsupported", EOPNOTSUPP},
         {"TryAgain", EAGAIN},
         {"Changed", EAGAIN}}};
    for (const auto& [reason, number] : kOfReasons)
        if (reason == error.reason) return number;
    switch (error.kind) {
        case client::ClientError::Kind::not_found:
            return ENOENT;
        case client::ClientError::Kind::not_authorized:
            return EPERM;
        default:
            return EIO;
    }
}

}  // namespace cgpu::fs
