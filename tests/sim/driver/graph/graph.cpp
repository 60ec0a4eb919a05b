#include "tests/sim/driver/graph/graph.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>

namespace simgpu {

namespace {

std::uint64_t next_number() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

}  // namespace

Node::Node(Graph& owner, Context& where, Step what)
    : graph(owner), context(where), step(std::move(what)), id(next_number()) {}

Node* Graph::add(Context& context, Step step, const std::vector<Edge>& dependencies) {
    auto node = std::make_unique<Node>(*this, context, std::move(step));
    for (const Edge& edge : dependencies) {
        if (!add_edge(edge, *node)) return nullptr;
    }
    if (auto* child = std::get_if<ChildStep>(&node->step)) child->graph->parent = node.get();
    nodes_.push_back(std::move(node));
    return nodes_.back().get();
}

void Graph::remove(Node& node) {
    for (const auto& other : nodes_) {
        std::erase_if(other->dependencies, [&](const Edge& edge) { return edge.from == &node; });
    }
    std::erase_if(nodes_, [&](const auto& each) { return each.get() == &node; });
}

bool Graph::add_edge(const Edge& edge, Node& to) {
    const bool is_there = std::any_of(to.dependencies.begin(), to.dependencies.end(),
                                      [&](const Edge& other) { return other.from == edge.from; });
    if (!holds(edge.from) || !holds(&to) || edge.from == &to || is_there) return false;
    to.dependencies.push_back(edge);
    return true;
}

bool Graph::remove_edge(const Edge& edge, Node& to) {
    if (!holds(edge.from) || !holds(&to)) return false;
    return std::erase_if(to.dependencies, [&](const Edge& other) {
               return other.from == edge.from && other.data.from_port == edge.data.from_port &&
                      other.data.type == edge.data.type;
           }) > 0;
}

bool Graph::has_memory_nodes() const {
    return std::any_of(nodes_.begin(), nodes_.end(), [](const auto& node) {
        const auto* child = std::get_if<ChildStep>(&node->step);
        return std::holds_alternative<AllocateStep>(node->step) ||
               std::holds_alternative<FreeStep>(node->step) || (child && child->graph->has_memory_nodes());
    });
}

std::vector<Node*> Graph::in_order() const {
    std::map<const Node*, std::size_t> missing;
    std::map<const Node*, std::vector<Node*>> dependents;
    std::map<std::uint64_t, Node*> ready;  // by id: the order of creation
    for (const auto& node : nodes_) {
        missing[node.get()] = node->dependencies.size();
        for (const Edge& edge : node->dependencies) dependents[edge.from].push_back(node.get());
        if (node->dependencies.empty()) ready[node->id] = node.get();
    }
    std::vector<Node*> order;
    while (!ready.empty()) {
        Node* node = ready.begin()->second;
        ready.erase(ready.begin());
        order.push_back(node);
        for (Node* dependent : dependents[node]) {
            if (--missing[dependent] == 0) ready[dependent->id] = dependent;
        }
    }
    if (order.size() < nodes_.size()) order.clear();
    return order;
}

std::unique_ptr<Graph> Graph::clone() const {
    auto copy = std::make_unique<Graph>();
    copy->is_clone = true;
    std::map<const Node*, Node*> copies;
    for (const auto& node : nodes_) {
        Step step = node->step;
        if (auto* child = std::get_if<ChildStep>(&step)) child->graph = child->graph->clone();
        Node* made = copy->add(node->context, std::move(step), {});
        made->origin = node->id;
        made->enabled = node->enabled;
        copies[node.get()] = made;
    }
    for (const auto& node : nodes_) {
        for (const Edge& edge : node->dependencies) {
            copies[node.get()]->dependencies.push_back({copies[edge.from], edge.data});
        }
    }
    return copy;
}

Node* Graph::copy_of(std::uint64_t id) const {
    for (const auto& node : nodes_) {
        if (node->origin == id) return node.get();
        const auto* child = std::get_if<ChildStep>(&node->step);
        if (Node* inner = child ? child->graph->copy_of(id) : nullptr) return inner;
    }
    return nullptr;
}

}  // namespace simgpu
