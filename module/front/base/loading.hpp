#pragma once

namespace cgpu::front {

/// While this object lives, the front uses the loader (dlopen, dlclose, its list of libraries). That never
/// overlaps with a fork: a child may use it, too, so it must not have a copy of the lists in the middle of a
/// change that its program doesn't know of, nor one of their lock. Both wait for each other, a tenth of a
/// second at most: the thread that forks may hold the loader's own lock.
class Loading {
  public:
    Loading();
    ~Loading();
    Loading(const Loading&) = delete;
    Loading& operator=(const Loading&) = delete;
};

}  // namespace cgpu::front
