#include "client/runtime/oci/cdi_annotations.hpp"

#include "core/request/cdi.hpp"
#include "core/request/variables.hpp"

namespace cgpu::runtime {
namespace {

constexpr std::string_view kPrefix = "cdi.k8s.io/";

std::string without_gpus(const std::string& value) {
    std::string kept;
    for (const std::string_view device : request::split_list(value))
        if (!request::gpu_of_cdi_name(device)) kept += (kept.empty() ? "" : ",") + std::string(device);
    return kept;
}

}  // namespace

std::vector<CdiAnnotation> cdi_annotations(const OciBundle& bundle) {
    std::vector<CdiAnnotation> found;
    for (const auto& [name, value] : bundle.annotations()) {
        if (!name.starts_with(kPrefix)) continue;
        CdiAnnotation annotation{name, value, {}};
        for (const std::string_view device : request::split_list(value))
            if (const auto gpu = request::gpu_of_cdi_name(device)) annotation.gpus.emplace_back(*gpu);
        if (!annotation.gpus.empty()) found.push_back(std::move(annotation));
    }
    return found;
}

void remove_cdi_gpus(OciBundle& bundle) {
    for (const CdiAnnotation& annotation : cdi_annotations(bundle))
        bundle.set_annotation(annotation.name, without_gpus(annotation.value));
}

}  // namespace cgpu::runtime
