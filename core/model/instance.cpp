#include "core/model/instance.hpp"

#include "core/model/quote.hpp"

namespace cgpu::model {

std::string describe(const Instance& instance) {
    auto text = "instance " + instance.id.short_id();
    if (instance.name.empty()) return text;
    const auto quoted = quote(instance.name);
    return text + " (" + quoted.substr(1, quoted.size() - 2) + ")";
}

}  // namespace cgpu::model
