#pragma once

#define FUSE_USE_VERSION 35  // of fuse 3.5 and later
#include <fuse3/fuse.h>

#include <ctime>

#include "client/fs/node_view.hpp"
#include "client/fs/sweeper.hpp"

namespace cgpu::fs {

/// What the operations below work on: fuse's private data.
struct Served {
    NodeView& view;
    Sweeper& sweeper;
    unsigned major = 0;     ///< the number of the tree's own device, once it is mounted
    timespec mounted = {};  ///< the time that all files have
};

/// The tree as a file system. Folders and files come and go with GPUs and instances, so nothing of it may be
/// kept by the kernel: fuse must be given timeouts of 0. Why a write was refused is said on standard error.
[[nodiscard]] const fuse_operations& operations();

}  // namespace cgpu::fs
