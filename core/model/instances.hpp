#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "core/model/instance.hpp"

namespace cgpu::model {

/// Instances by their ids, in order. Copies share each instance until one of them changes it, so a node with
/// hundreds of instances is copied in microseconds. What is pointed at lives as long as one copy has it
/// unchanged.
class Instances {
    using Shared = std::vector<std::shared_ptr<Instance>>;

  public:
    using value_type = std::pair<const InstanceId&, const Instance&>;

    class const_iterator {
      public:
        using value_type = Instances::value_type;
        using reference = value_type;
        using difference_type = std::ptrdiff_t;
        using iterator_category = std::input_iterator_tag;  // it makes what it refers to
        using iterator_concept = std::forward_iterator_tag;

        const_iterator() = default;
        [[nodiscard]] reference operator*() const { return {(*at_)->id, **at_}; }
        [[nodiscard]] auto operator->() const {
            struct Arrow {
                reference referred;
                const reference* operator->() const { return &referred; }
            };
            return Arrow{**this};
        }
        const_iterator& operator++() {
            ++at_;
            return *this;
        }
        const_iterator operator++(int) { return std::exchange(*this, std::next(*this)); }
        friend bool operator==(const const_iterator&, const const_iterator&) = default;

      private:
        friend class Instances;
        explicit const_iterator(Shared::const_iterator at) : at_(at) {}
        Shared::const_iterator at_;
    };

    [[nodiscard]] const_iterator begin() const { return const_iterator(all_.begin()); }
    [[nodiscard]] const_iterator end() const { return const_iterator(all_.end()); }
    [[nodiscard]] std::size_t size() const { return all_.size(); }
    [[nodiscard]] bool empty() const { return all_.empty(); }
    /// The first whose id isn't less.
    [[nodiscard]] const_iterator lower_bound(const InstanceId& id) const { return const_iterator(place(id)); }
    /// Null: there is none. Equal pointers of two moments mean that the instance wasn't changed between them.
    [[nodiscard]] std::shared_ptr<const Instance> share(const InstanceId& id) const {
        const auto at = find_place(id);
        return at == all_.end() ? nullptr : *at;
    }
    /// Null: there is none.
    [[nodiscard]] const Instance* find(const InstanceId& id) const {
        const auto at = find_place(id);
        return at == all_.end() ? nullptr : at->get();
    }

    /// False: there is one with its id already.
    bool add(Instance instance) {
        const auto at = place(instance.id);
        if (at != all_.end() && (*at)->id == instance.id) return false;
        all_.insert(at, std::make_shared<Instance>(std::move(instance)));
        return true;
    }
    void remove(const InstanceId& id) {
        if (const auto at = find_place(id); at != all_.end()) all_.erase(at);
    }
    void clear() { all_.clear(); }
    /// To change it: no other copy's any more. Null: there is none.
    [[nodiscard]] Instance* own(const InstanceId& id) {
        const auto at = find_place(id);
        if (at == all_.end()) return nullptr;
        auto& shared = all_[static_cast<std::size_t>(at - all_.cbegin())];
        if (shared.use_count() > 1) shared = std::make_shared<Instance>(*shared);
        return shared.get();
    }

    friend bool operator==(const Instances& one, const Instances& other) {
        return std::ranges::equal(one.all_, other.all_,
                                  [](const auto& a, const auto& b) { return a == b || *a == *b; });
    }

  private:
    [[nodiscard]] Shared::const_iterator place(const InstanceId& id) const {
        return std::ranges::lower_bound(
            all_, id, {}, [](const auto& instance) -> const InstanceId& { return instance->id; });
    }
    [[nodiscard]] Shared::const_iterator find_place(const InstanceId& id) const {
        const auto at = place(id);
        return at != all_.end() && (*at)->id == id ? at : all_.end();
    }

    Shared all_;
};

}  // namespace cgpu::model
