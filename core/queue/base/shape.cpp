#include "core/queue/base/shape.hpp"

#include <variant>

namespace cgpu::queue {
namespace {

template <class Number>
void put(std::string& shape, char what, Number number) {
    shape += what;
    shape += std::to_string(number);
}

template <class Number>
void put(std::string& shape, char what, const std::optional<Number>& number) {
    if (number) put(shape, what, *number);
}

void put_memory(std::string& shape, const request::MemoryAsk& ask) {
    if (const auto* exact = std::get_if<model::Bytes>(&ask)) {
        put(shape, 'b', exact->count());
        return;
    }
    const auto& share = std::get<request::CardShare>(ask);
    put(shape, share.in_mib ? 'm' : 'g', share.gib);
    put(shape, '/', share.dev);
}

void put_kept(std::string& shape, const model::KeptOfInstance& kept) {
    for (const auto& [device, figures] : kept) {
        put(shape, 'k', device);
        if (figures.memory_limit) put(shape, 'b', figures.memory_limit->count());
        put(shape, 'w', figures.weight);
        if (figures.high_priority) put(shape, 'p', *figures.high_priority ? 1 : 0);
    }
}

}  // namespace

std::string shape_of(const Waiting& waiting, const admission::Defaults& defaults) {
    const request::Request& request = waiting.request;
    std::string shape;
    for (const request::MemoryAsk& ask : request.memory) put_memory(shape, ask);
    for (const request::GpuName& name : request.gpus) shape += "@" + model::to_string(name);
    if (request.every_gpu) shape += '*';
    put(shape, 'n', request.count);
    put(shape, 'w', request.weight);
    put(shape, '%', request.percent);
    if (request.high_priority) shape += 'p';
    if (request.mode) put(shape, 'M', static_cast<std::uint32_t>(*request.mode));
    put_kept(shape, request.kept);
    put(shape, 't', waiting.length);
    if (!defaults.weights.empty())
        if (const auto named = defaults.weights.find(request.container_name); named != defaults.weights.end())
            put(shape, 'c', named->second);
    return shape;
}

}  // namespace cgpu::queue
