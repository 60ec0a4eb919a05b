#include "core/queue/explain.hpp"

#include <algorithm>

#include "core/model/size.hpp"

namespace cgpu::queue {
namespace {

const char* word_of(Why why) {
    switch (why) {
        case Why::room:
            return "room";
        case Why::turn:
            return "its turn";
        case Why::limits:
            return "its owner's limits";
        case Why::gpus:
            return "GPUs";
    }
    return "";
}

/// GPUs that are told of one by one.
constexpr std::size_t kMostTold = 4;

std::string name_of_gpu(const model::Node& node, const model::Uuid& uuid) {
    const model::Gpu* gpu = node.find_gpu(uuid);
    return "GPU " + (gpu == nullptr ? uuid.to_string() : std::to_string(gpu->index));
}

std::string lack_text(const Lack& lack, const model::Node& node) {
    std::string gpu = name_of_gpu(node, lack.gpu);
    switch (lack.what) {
        case Lack::What::memory:
            return gpu + " has " + model::format_mib(lack.free) + " free, and " +
                   model::format_mib_up(lack.needed) + " are needed";
        case Lack::What::place:
            return gpu + " has as many instances as it takes (" + std::to_string(lack.instances) + ")";
        case Lack::What::company:
            return gpu + " would have to be shared with " + std::to_string(lack.instances) +
                   (lack.instances == 1 ? " instance" : " instances") + ", where one wants it whole";
        case Lack::What::otherwise:
            return gpu + " can't take it beside what runs there";
    }
    return gpu;
}

std::string room_text(const Wait& wait, const model::Node& node) {
    if (!wait.lacks || wait.lacks->empty()) return "too few of the GPUs that it could use have room";
    std::string text;
    const auto& lacks = *wait.lacks;
    for (std::size_t i = 0; i < lacks.size() && i < kMostTold; ++i)
        text += (i == 0 ? "" : "; ") + lack_text(lacks[i], node);
    if (lacks.size() > kMostTold)
        text += "; and " + std::to_string(lacks.size() - kMostTold) + " more GPUs have no room";
    return text;
}

}  // namespace

std::string explain(const Wait& wait, const model::Node& node, const NameOf& name_of) {
    switch (wait.why) {
        case Why::room:
            return room_text(wait, node);
        case Why::turn:
            return wait.behind ? name_of(*wait.behind) + " comes first, and this one might delay it"
                               : "others come first";
        case Why::limits: {
            const std::string limit = wait.limit ? wait.limit->text() : "its owner has all that it may have";
            return wait.behind ? "its owner's limits hold back " + name_of(*wait.behind) +
                                     ", which comes first: " + limit
                               : "its owner's limits: " + limit;
        }
        case Why::gpus:
            return "too few of the GPUs that could take it are there and aren't drained";
    }
    return {};
}

std::string describe(const Decision& decision, Nanos now, const NameOf& name_of) {
    std::string text;
    for (const Start& start : decision.starts)
        text += (text.empty() ? "" : "; ") + name_of(start.ticket) + " starts";
    for (const Wait& wait : decision.waits) {
        text += (text.empty() ? "" : "; ") + name_of(wait.ticket) + " waits for " + word_of(wait.why);
        if (wait.at_latest)
            text += ", " + std::to_string(std::max<Nanos>(*wait.at_latest - now, 0) / model::kMilli) +
                    "ms at most";
    }
    return text;
}

}  // namespace cgpu::queue
