#pragma once

#include <random>
#include <vector>

#include "tests/sim/test/support/mailbox.hpp"
#include "tests/sim/test/support/support.hpp"

namespace simgpu::test {

/// A process that allocates and frees device memory in all ways, at random, and shares it with others of its
/// kind. It runs out of memory now and then; anything else that fails ends it with an error.
class RandomLife {
  public:
    struct Post {
        Mailbox descriptors;
        Mailbox ipc_handles;
    };
    RandomLife(unsigned int seed, Post& post) : random_(seed), post_(post) {}

    /// The process has a current context.
    void live(int steps);
    /// Frees and closes everything except the process's context.
    void give_all_back();

  private:
    struct Mapped {
        CUdeviceptr pointer;
        std::size_t bytes;
    };
    using Step = void (RandomLife::*)();

    void allocate();
    void free();
    void allocate_async();
    void free_async();
    void create_array();
    void destroy_array();
    void create_mapped();
    void unmap();
    void import_mapped();
    void share();
    void open();
    void close();
    void change_module();
    void compute();
    void change_context();

    std::size_t some_bytes();
    bool got(CUresult result);
    void map(CUmemGenericAllocationHandle handle, std::size_t bytes, bool fresh);
    template <typename T>
    bool take_one(std::vector<T>& things, T& thing);

    std::mt19937 random_;
    Post& post_;
    CUmemoryPool pool_ = nullptr;
    CUmodule module_ = nullptr;
    CUcontext second_ = nullptr;
    std::vector<CUdeviceptr> plain_;
    std::vector<CUdeviceptr> pooled_;
    std::vector<CUdeviceptr> opened_;
    std::vector<CUmipmappedArray> arrays_;
    std::vector<Mapped> mapped_;
};

}  // namespace simgpu::test
