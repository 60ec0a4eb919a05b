#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include "module/engine/abi/api.hpp"

namespace cgpu::module {

/// The map of the next engine, in place of module/engine/base/map.hpp: a tree of nodes (a treap) instead of
/// one table. Its nodes have any size and address, and come in the order of the keys.
template <class Value>
class Map {
    static_assert(std::is_trivially_copyable_v<Value>);

  public:
    explicit Map(const EngineHost& host) : host_(host) {}
    ~Map() {
        erase_if([](std::uint64_t, Value&) { return true; });
        while (spare_ != nullptr) host_.free(take_spare());
    }
    Map(const Map&) = delete;
    Map& operator=(const Map&) = delete;

    std::size_t size() const { return size_; }

    bool make_room(std::size_t count) {
        while (spares_ < count) {
            void* memory = host_.allocate(sizeof(Node));
            if (memory == nullptr) return false;
            give_spare(new (memory) Node{});
        }
        return true;
    }

    Value* find(std::uint64_t key) {
        Node* node = root_;
        while (node != nullptr && node->key != key) node = key < node->key ? node->left : node->right;
        return node != nullptr ? &node->value : nullptr;
    }

    Value* insert(std::uint64_t key, const Value& fresh) {
        if (Value* known = find(key)) return known;
        if (!make_room(1)) return nullptr;
        Node* node = take_spare();
        seed_ = seed_ * 6364136223846793005u + 1442695040888963407u;
        *node = {key, fresh, seed_, nullptr, nullptr};
        Node* below = nullptr;
        Node* above = nullptr;
        split(root_, key, below, above);
        root_ = merge(merge(below, node), above);
        ++size_;
        return &node->value;
    }

    void erase(std::uint64_t key) {
        Node** place = &root_;
        while (*place != nullptr && (*place)->key != key)
            place = key < (*place)->key ? &(*place)->left : &(*place)->right;
        if (*place == nullptr) return;
        Node* gone = *place;
        *place = merge(gone->left, gone->right);
        give_spare(gone);
        --size_;
    }

    template <class Visit>
    void each(Visit visit) {
        walk(root_, visit);
    }

    template <class Test>
    void erase_if(Test test) {
        Node* rest = root_;
        root_ = nullptr;
        while (rest != nullptr) {
            Node* first = rest;
            if (first->left != nullptr) {  // turned, until the least is on top
                rest = first->left;
                first->left = rest->right;
                rest->right = first;
                continue;
            }
            rest = first->right;
            first->right = nullptr;
            if (test(first->key, first->value)) {
                give_spare(first);
                --size_;
            } else {
                root_ = merge(root_, first);
            }
        }
    }

  private:
    struct Node {
        std::uint64_t key;
        Value value;
        std::uint64_t rank;
        Node* left;
        Node* right;
    };

    template <class Visit>
    static void walk(Node* node, Visit& visit) {
        if (node == nullptr) return;
        walk(node->left, visit);
        visit(node->key, node->value);
        walk(node->right, visit);
    }
    static void split(Node* node, std::uint64_t key, Node*& below, Node*& above) {
        if (node == nullptr) {
            below = above = nullptr;
        } else if (node->key < key) {
            split(node->right, key, node->right, above);
            below = node;
        } else {
            split(node->left, key, below, node->left);
            above = node;
        }
    }
    static Node* merge(Node* below, Node* above) {
        if (below == nullptr) return above;
        if (above == nullptr) return below;
        if (below->rank > above->rank) {
            below->right = merge(below->right, above);
            return below;
        }
        above->left = merge(below, above->left);
        return above;
    }
    void give_spare(Node* node) {
        node->right = spare_;
        spare_ = node;
        ++spares_;
    }
    Node* take_spare() {
        Node* node = spare_;
        spare_ = node->right;
        --spares_;
        return node;
    }

    const EngineHost host_;
    Node* root_ = nullptr;
    Node* spare_ = nullptr;
    std::size_t spares_ = 0;
    std::size_t size_ = 0;
    std::uint64_t seed_ = 1;
};

}  // namespace cgpu::module
