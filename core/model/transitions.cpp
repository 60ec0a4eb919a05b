#include "core/model/transitions.hpp"

#include <numeric>
#include <utility>

namespace cgpu::model {

tl::expected<Change, Refused> do_all(Node& node, const std::vector<Transition>& transitions) {
    Node next = node;
    auto change = Change::unchanged;
    std::vector<std::size_t> open(transitions.size());
    std::iota(open.begin(), open.end(), std::size_t{0});
    while (!open.empty()) {
        std::vector<Refused> refused;
        std::vector<std::size_t> again;
        for (const std::size_t which : open) {
            const auto done = transitions[which](next);
            if (!done) {
                again.push_back(which);
                refused.push_back({which, done.error()});
            } else if (*done == Change::changed) {
                change = Change::changed;
            }
        }
        if (again.size() == open.size()) return tl::unexpected(std::move(refused.front()));
        open = std::move(again);
    }
    node = std::move(next);
    return change;
}

}  // namespace cgpu::model
