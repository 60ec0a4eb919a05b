#include "client/runtime/unmanaged.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <variant>

#include "client/runtime/call/hook_log.hpp"
#include "client/runtime/call/unmanaged_gpus.hpp"
#include "client/runtime/chain/next_runtime.hpp"
#include "client/runtime/hooks/check_hook.hpp"
#include "client/runtime/oci/edit_bundle.hpp"
#include "client/runtime/oci/engine_record.hpp"
#include "core/model/gpu_word.hpp"

namespace cgpu::runtime {
namespace {

using Kind = client::ClientError::Kind;

struct Admitted {
    bool booked = false;
    KnownGpus known;
};

/// The UUIDs of the GPUs that these words mean. cgpud alone knows PCI addresses, and says what is wrong with
/// a word.
Result<std::vector<std::string>> uuids_of(const std::vector<std::string>& words,
                                          const std::vector<client::Gpu>& gpus, client::Node& node) {
    std::vector<std::string> uuids;
    for (const std::string& text : words) {
        const auto word = model::parse_gpu_word(text);
        const auto gpu = std::ranges::find_if(gpus, [&word](const client::Gpu& each) {
            return word && each.present && model::is_meant(*word, {each.index, each.uuid});
        });
        const bool clear = gpu != gpus.end() && !std::holds_alternative<model::UuidPrefix>(*word);
        auto uuid = clear ? Result<std::string>(gpu->uuid) : node.find_gpu(text);
        if (!uuid) return tl::unexpected(uuid.error());
        uuids.push_back(std::move(*uuid));
    }
    return uuids;
}

/// The GPUs by these UUIDs; none: all.
KnownGpus known_of(const std::vector<std::string>& uuids, const GpuMinors& minors) {
    KnownGpus known{{}, uuids.empty(), false};
    for (const auto& [minor, uuid] : minors)
        if (std::ranges::find(uuids, uuid) != uuids.end()) known.minors.insert(minor);
    return known;
}

Result<Admitted> admit(const OciBundle& bundle, const std::string& id, client::Node& node) {
    const auto gpus = node.read_gpus();
    if (!gpus) return tl::unexpected(gpus.error());
    const GpuMinors minors = read_gpu_minors(*gpus);
    const auto uuids = uuids_of(unmanaged_gpus(bundle, minors), *gpus, node);
    if (!uuids) return tl::unexpected(uuids.error());
    const auto booked = node.admit_unmanaged(id, engine_record(bundle, id).name, *uuids);
    if (!booked) return tl::unexpected(booked.error());
    Admitted admitted{*booked, known_of(*uuids, minors)};
    admitted.known.booked = *booked;
    return admitted;
}

/// Whether a container doesn't start because of this answer.
bool decides(const client::ClientError& error, const std::string& rule) {
    std::error_code none;
    return error.kind == Kind::refused || std::filesystem::exists(rule, none);
}

OwnHooks own_hooks(const Invocation& invocation, const std::string& program) {
    const char* bus = std::getenv("DBUS_SYSTEM_BUS_ADDRESS");
    return {program, bus == nullptr ? "" : bus, hook_log_argument(invocation)};
}

/// The UUIDs of what it has; empty: all, or what can't be told.
std::vector<std::string> names_of(const GpuAccess& has, const GpuMinors& minors) {
    if (has.all_by_rule) return {};
    std::vector<std::string> names;
    for (const std::uint32_t minor : has.gpus()) {
        const auto gpu = minors.find(minor);
        if (gpu == minors.end()) return {};
        names.push_back(gpu->second);
    }
    return names;
}

Result<bool> admit_found(const OciBundle& bundle, const std::string& id, const GpuAccess& has,
                         client::Node& node) {
    const auto gpus = node.read_gpus();
    if (!gpus) return tl::unexpected(gpus.error());
    return node.admit_unmanaged(id, engine_record(bundle, id).name, names_of(has, read_gpu_minors(*gpus)));
}

}  // namespace

Result<void> take_in_unmanaged(OciBundle& bundle, const Invocation& invocation, const std::string& program,
                               client::Node& node, const std::string& rule) {
    const bool may_get_more = may_get_gpus_later(bundle);
    const OwnHooks own = own_hooks(invocation, program);
    if (!gets_unmanaged_gpus(bundle, next_runtime_brings_gpus)) {
        if (!may_get_more) return {};
        add_check_hook(bundle, own, invocation.id, {});
        return bundle.write();
    }
    const auto admitted = admit(bundle, invocation.id, node);
    if (!admitted && decides(admitted.error(), rule)) return tl::unexpected(admitted.error());
    if (!admitted) return {};
    add_attach_hook(bundle, {invocation.id, program, own.bus_address, {}, {}, own.log_argument},
                    admitted->booked);
    if (may_get_more && !admitted->known.all) add_check_hook(bundle, own, invocation.id, admitted->known);
    return bundle.write();
}

Result<void> take_in_found(const ContainerState& container, const KnownGpus& known, client::Node& node,
                           const std::string& rule) {
    const auto beyond = gpus_beyond(container, known);
    if (!beyond) return tl::unexpected(beyond.error());
    if (!*beyond) return {};
    if (known.booked)
        return client::fail(Kind::refused,
                            "container " + container.id.substr(0, 12) +
                                ": it gets other GPUs than those that it names, which it has booked "
                                "(unmanaged: whole). Try: name all of them by NVIDIA_VISIBLE_DEVICES.");
    const auto bundle = OciBundle::read(container.bundle);
    if (!bundle) return tl::unexpected(bundle.error());
    const auto booked = admit_found(*bundle, container.id, **beyond, node);
    if (!booked && decides(booked.error(), rule)) return tl::unexpected(booked.error());
    if (!booked) return {};
    auto attached = node.attach(container.id, container.pid);
    return attached || !*booked ? Result<void>{} : attached;
}

}  // namespace cgpu::runtime
