#include "daemon/link/instance/notices.hpp"

#include <string_view>
#include <utility>

#include "core/model/quote.hpp"

namespace cgpu::link {
namespace {

const char* describe(const wire::Notice& notice) {
    switch (notice.event) {
        case wire::Event::managed_memory_refused:
            if (std::string_view(notice.detail).starts_with("cuCheckpoint"))
                return "a checkpoint was refused: the memory that its restore would take again can't be held "
                       "to the memory limit. Try: checkpoint instances of mode none only";
            if (std::string_view(notice.detail).find("Prefetch") != std::string_view::npos)
                return "a prefetch to the GPU was refused: no limit holds for pageable memory that it moves "
                       "there. "
                       "Try: copy to memory of cudaMalloc, or mode none";
            if (std::string_view(notice.detail).starts_with("cuLogicalEndpoint"))
                return "memory was not bound to a logical endpoint: it would stay there, uncharged. Try: "
                       "multicast objects (cuMulticastBindMem), or mode none";
            if (std::string_view(notice.detail).starts_with("cuStreamBeginCaptureToCig"))
                return "a capture for a graphics API was refused: its work would run past the gate. Try: "
                       "launch "
                       "it in a stream, or mode none";
            return "managed memory was refused: it can't be held to the memory limit. Try: use cudaMalloc, "
                   "or mode none";
        case wire::Event::foreign_device_refused:
            return "a GPU that is not one of the instance's was refused";
        case wire::Event::engine_failed:
            return "the engine failed";
        case wire::Event::gate_ran_out:
            return "cgpud was silent for too long, launches went on without it";
        case wire::Event::driver_unreachable:
            break;
    }
    return nullptr;
}

}  // namespace

bool Notices::told(std::int32_t pid, const wire::Notice& notice) {
    const std::string_view detail = notice.detail;
    if (notice.event == wire::Event::driver_unreachable) {
        if (detail == wire::kNoProc)
            unreachable(
                pid, "no-proc",
                "gets no driver: /proc isn't mounted in its root, and the driver is loaded by a path in "
                "it. Try: mount /proc in its chroot or sandbox (bwrap: --proc /proc)");
        else if (detail == wire::kCantHide)
            unreachable(
                pid, "dumpable",
                "gets no driver: other processes of its user could take that from it, because "
                "PR_SET_DUMPABLE has no effect, as under a filter of system calls. Try: use a sandbox that "
                "leaves prctl(2) to the kernel");
        else if (detail == wire::kNoDevice)
            unreachable(pid, "no-device",
                        "the driver finds no GPU (cuInit: 100): its /dev lacks the devices, or its "
                        "CUDA_VISIBLE_DEVICES names none of the instance's. Try: give its chroot or sandbox "
                        "the /dev that the job has (bwrap: --dev-bind /dev /dev)");
        else
            unreachable(pid, "not-loadable",
                        "gets no driver: its library can't be loaded there: " + model::quote(notice.detail) +
                            ". Try: give its chroot or sandbox what the loader lacks");
        return true;
    }
    const char* text = describe(notice);
    if (text == nullptr) return false;
    std::string line = std::string(text) + " (GPU " + std::to_string(notice.gpu);
    if (!detail.empty()) line += ", " + model::quote(notice.detail);
    log_.write(pid, line + ")");
    return true;
}

void Notices::cut_off(std::int32_t pid) {
    unreachable(
        pid, "no-link",
        "programs with its mounts get no driver (cuInit: 802): its chroot or sandbox has the driver's "
        "libraries, and not the job's /run/cgpu. Try: mount that there, too (bwrap: --ro-bind /run/cgpu "
        "/run/cgpu)");
}

void Notices::unreachable(std::int32_t pid, const std::string& reason, const std::string& text) {
    auto event = app::event_of(
        app::EventType::driver_unreachable, log::Level::warn, instance_,
        "instance " + instance_.id.short_id() + ": process " + std::to_string(pid) + ": " + text);
    event.process = pid;
    event.details["reason"] = reason;
    unreachable_.happened(instance_.creator.value_or(0), reason + " " + instance_.id.str(), std::move(event));
}

}  // namespace cgpu::link
