#pragma once

#define FUSE_USE_VERSION 35
#include <fuse3/fuse_lowlevel.h>

#include <vector>

#include "tests/programs/disk/disk.hpp"

namespace programs::disk {

/// The disk as the kernel asks for it.
struct Served {
    Disk disk;
    /// From this step on nothing is answered until the power fails; 0: never.
    std::uint64_t holds_from = 0;
    std::vector<fuse_req_t> held = {};

    /// Counts a step that changes something. True: it is not carried out, and not answered now.
    bool hold(fuse_req_t request);
};

/// To be served with a Served* as the user's data.
const fuse_lowlevel_ops& operations();

}  // namespace programs::disk
