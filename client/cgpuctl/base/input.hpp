#pragma once

#include <string>
#include <variant>
#include <vector>

namespace cgpu::cgpuctl {

/// What a verb was called with, as it was written. Each verb has a struct of its own options, which is
/// derived from this one; this one has what all verbs share. Absent: empty.
struct Input {
    Input() = default;
    Input(const Input&) = default;
    Input(Input&&) = default;
    Input& operator=(const Input&) = default;
    Input& operator=(Input&&) = default;
    virtual ~Input() = default;

    std::string host;  ///< another machine, reached over ssh
    bool json = false;
    bool no_legend = false;
    bool quiet = false;
    bool dry_run = false;
};

/// Of what changes settings; a verb that doesn't take one of these leaves it empty.
struct ChangingInput : Input {
    std::string if_generation;
    bool force = false;
    bool persist = false;
    bool runtime = false;
};

/// A field of a verb's input.
using Slot = std::variant<bool*, std::string*, std::vector<std::string>*>;

/// Finds a field in the input of a verb that has it.
using Field = Slot (*)(Input&);

namespace detail {

template <auto kMember, class Own, class Value>
Slot slot_in(Input& input, Value Own::*) {
    return &(dynamic_cast<Own&>(input).*kMember);
}

}  // namespace detail

/// The field of a verb's own struct: `field<&ListInput::kept>`.
template <auto kMember>
Slot field(Input& input) {
    return detail::slot_in<kMember>(input, kMember);
}

}  // namespace cgpu::cgpuctl
