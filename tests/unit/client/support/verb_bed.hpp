#pragma once

#include <gtest/gtest.h>

#include "client/cgpuctl/base/verb.hpp"
#include "tests/unit/client/support/fake_node.hpp"

namespace cgpu::cgpuctl {

/// A verb with its input, over a node that records what it is asked.
class VerbTest : public testing::Test {
  protected:
    client::Result<void> call(client::Result<void> (*verb)(const Input&, client::Node&, Terminal&)) {
        auto terminal = screen_.terminal({.quiet = input_.quiet});
        return verb(input_, node_, terminal);
    }

    FakeNode node_;
    Screen screen_;
    Input input_;
};

}  // namespace cgpu::cgpuctl
