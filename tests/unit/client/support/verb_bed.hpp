#pragma once

#include <type_traits>

#include <gtest/gtest.h>

#include "client/cgpuctl/base/verb.hpp"
#include "tests/unit/client/support/fake_node.hpp"

namespace cgpu::cgpuctl {

/// Verbs with an input, over a node that records what it is asked.
template <class Own>
class VerbTest : public testing::Test {
  protected:
    template <class Taken>
    using Verb = client::Result<void> (*)(const Taken&, client::Node&, Terminal&);

    template <class Taken>
    client::Result<void> call(Verb<Taken> verb, const Taken& input) {
        auto terminal = screen_.terminal({.quiet = input.quiet});
        return verb(input, node_, terminal);
    }
    /// A verb that takes the input, or a part of it.
    template <class Taken>
    client::Result<void> call(Verb<Taken> verb) {
        static_assert(std::is_base_of_v<Taken, Own>);
        return call<Taken>(verb, input_);
    }

    FakeNode node_;
    Screen screen_;
    Own input_;
};

}  // namespace cgpu::cgpuctl
