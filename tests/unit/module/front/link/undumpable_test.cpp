// Each test is a process of its own: the state is the whole process's.
#include "module/front/link/undumpable.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace cgpu::front {
namespace {

constexpr uid_t kUser = 1000;

int dumpable() { return prctl(PR_GET_DUMPABLE); }
bool become_user(uid_t user = kUser) {
    return setgroups(0, nullptr) == 0 && setresgid(user, user, user) == 0 &&
           setresuid(user, user, user) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0;
}

/// The status of a forked child that ends with the function's.
int in_child(const std::function<int()>& function) {
    const pid_t child = fork();
    if (child == 0) _exit(function());
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define MUST(condition)                                                      \
    if (!(condition)) {                                                      \
        std::fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition); \
        return 1;                                                            \
    }

TEST(Undumpable, LastsFromTheFirstToTheLast) {
    EXPECT_EQ(in_child([] {
                  MUST(dumpable() == 1);
                  {
                      const Undumpable first;
                      MUST(dumpable() == 0);
                      { const Undumpable second; }
                      MUST(dumpable() == 0);
                  }
                  MUST(dumpable() == 1);
                  { const Undumpable again; }
                  MUST(dumpable() == 1);
                  return 0;
              }),
              0);
}

TEST(Undumpable, WhatTheProgramHadForbiddenStaysForbidden) {
    EXPECT_EQ(in_child([] {
                  MUST(prctl(PR_SET_DUMPABLE, 0) == 0);
                  { const Undumpable hidden; }
                  MUST(dumpable() == 0);
                  return 0;
              }),
              0);
}

TEST(Undumpable, WhatTheProgramAllowsMeanwhileIsTakenAgain) {
    EXPECT_EQ(in_child([] {
                  {
                      const Undumpable first;
                      prctl(PR_SET_DUMPABLE, 1);
                      const Undumpable second;
                      MUST(dumpable() == 0);
                  }
                  MUST(dumpable() == 1);
                  return 0;
              }),
              0);
}

TEST(Undumpable, StaysAfterIdsWereChanged) {
    if (geteuid() != 0) GTEST_SKIP() << "root only can change its ids";
    const std::function<void()> changes[] = {
        [] { setresuid(kUser, kUser, kUser); },
        [] { setresgid(kUser, kUser, kUser); },
        [] { seteuid(kUser); },
        [] { setegid(kUser); },
        [] { setfsuid(kUser); },
        [] { setfsgid(kUser); },
    };
    int number = 0;
    for (const auto& change : changes) {
        EXPECT_EQ(in_child([&] {
                      {
                          const Undumpable hidden;
                          change();
                      }
                      MUST(dumpable() != 1);
                      return 0;
                  }),
                  0)
            << "change " << number;
        ++number;
    }
}

/// From now on the filter answers prctl with this option instead of the kernel: with an error, or with
/// success.
bool answer_instead(int option, int error) {
    sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(option), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{std::size(code), code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(Undumpable, ARefusalOfTheKernelHarmsNothingAndIsNoticed) {
    EXPECT_EQ(in_child([] {
                  MUST(answer_instead(PR_SET_DUMPABLE, EPERM));
                  errno = 0;
                  {
                      const Undumpable hidden;
                      MUST(!Undumpable::holds());
                  }
                  MUST(dumpable() == 1 && errno == 0);
                  return 0;
              }),
              0);
}

TEST(Undumpable, AFilterThatPretendsSuccessIsNoticed) {
    EXPECT_EQ(in_child([] {
                  MUST(answer_instead(PR_SET_DUMPABLE, 0));
                  const Undumpable hidden;
                  MUST(!Undumpable::holds());
                  return 0;
              }),
              0);
}

TEST(Undumpable, AFilterThatPretendsBothIsNoticedByTheOwnerInProc) {
    if (geteuid() != 0) GTEST_SKIP() << "becomes other users";
    for (const uid_t user : {uid_t{1000}, uid_t{65534}})
        EXPECT_EQ(in_child([user] {
                      MUST(become_user(user));
                      {
                          const Undumpable really;
                          MUST(Undumpable::holds());
                      }
                      MUST(!Undumpable::holds());
                      MUST(answer_instead(PR_SET_DUMPABLE, 0) && answer_instead(PR_GET_DUMPABLE, 0));
                      const Undumpable hidden;
                      MUST(dumpable() == 0 && !Undumpable::holds());
                      return 0;
                  }),
                  0)
            << user;
}

TEST(Undumpable, HoldsWhereRootHasNoNumber) {
    if (geteuid() != 0) GTEST_SKIP() << "becomes another user";
    EXPECT_EQ(in_child([] {
                  MUST(become_user());
                  // Its mappings stay empty, so all ids are 65534 in it.
                  if (unshare(CLONE_NEWUSER) != 0) return 0;
                  prctl(PR_SET_DUMPABLE, 1);
                  const Undumpable hidden;
                  MUST(Undumpable::holds());
                  return 0;
              }),
              0);
}

/// As in a sandbox that root has made for another user id: the owner of the process's files has its own
/// number.
TEST(Undumpable, HoldsWhereRootHasTheProcessesOwnNumberUnlessThereIsAFilter) {
    if (geteuid() != 0) GTEST_SKIP() << "is root outside";
    EXPECT_EQ(in_child([] {
                  if (unshare(CLONE_NEWUSER) != 0) return 0;
                  const int map = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
                  constexpr std::string_view kMap = "1234 0 1";
                  MUST(write(map, kMap.data(), kMap.size()) == ssize_t{kMap.size()});
                  close(map);
                  MUST(geteuid() == 1234);
                  prctl(PR_SET_DUMPABLE, 1);
                  {
                      MUST(!Undumpable::holds());
                      const Undumpable hidden;
                      MUST(Undumpable::holds());
                  }
                  MUST(answer_instead(PR_SET_DUMPABLE, 0) && answer_instead(PR_GET_DUMPABLE, 0));
                  const Undumpable hidden;
                  MUST(!Undumpable::holds());
                  return 0;
              }),
              0);
}

/// Whether this process, or another one of the same user, can open what is open in a process.
bool opens(pid_t process, int file) {
    const auto path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(file);
    const int opened = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (opened >= 0) close(opened);
    return opened >= 0;
}

TEST(Undumpable, OnlyTheProcessItselfOpensWhatItHasOpen) {
    if (geteuid() != 0)
        GTEST_SKIP() << "another user's right to a descriptor is the question, which root makes";
    EXPECT_EQ(
        in_child([] {
            const int file = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
            MUST(file >= 0 && become_user());
            const pid_t self = getpid();
            const auto others_open = [&] { return in_child([&] { return opens(self, file) ? 0 : 2; }); };
            // A child isn't what the handlers of forks are for here: none is registered.
            MUST(others_open() == 0);
            std::optional<Undumpable> hidden(std::in_place);
            MUST(others_open() == 2);
            const auto own = "/proc/self/task/../fd/" + std::to_string(file);
            MUST(access(own.c_str(), R_OK) == 0 && opens(self, file));
            bool by_thread = false;
            std::thread([&] { by_thread = opens(self, file) && access(own.c_str(), R_OK) == 0; }).join();
            MUST(by_thread);
            hidden.reset();
            MUST(others_open() == 0);
            return 0;
        }),
        0);
}

/// One of two libraries that know nothing of each other, as the two fronts.
class Library {
  public:
    explicit Library(const char* path) : handle_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
        if (handle_ == nullptr) std::fprintf(stderr, "%s\n", dlerror());
    }
    void* make() const { return reinterpret_cast<void* (*)()>(dlsym(handle_, "holder_make"))(); }
    void end(void* made) const { reinterpret_cast<void (*)(void*)>(dlsym(handle_, "holder_end"))(made); }
    void handle_forks() const { reinterpret_cast<void (*)()>(dlsym(handle_, "holder_handle_forks"))(); }

  private:
    void* handle_;
};

TEST(Undumpable, TwoLibrariesCountAsOne) {
    EXPECT_EQ(in_child([] {
                  const Library one(CGPU_TEST_HOLDER_ONE);
                  const Library two(CGPU_TEST_HOLDER_TWO);
                  for (const auto& [first, second] : {std::pair(&one, &two), std::pair(&two, &one)}) {
                      void* a = first->make();
                      MUST(dumpable() == 0);
                      void* b = second->make();
                      first->end(a);
                      MUST(dumpable() == 0);
                      second->end(b);
                      MUST(dumpable() == 1);
                  }
                  return 0;
              }),
              0);
}

TEST(Undumpable, ALibraryThatIsLoadedMeanwhileCounts) {
    EXPECT_EQ(in_child([] {
                  const Library one(CGPU_TEST_HOLDER_ONE);
                  void* a = one.make();
                  const Library two(CGPU_TEST_HOLDER_TWO);
                  void* b = two.make();
                  one.end(a);
                  MUST(dumpable() == 0);
                  two.end(b);
                  MUST(dumpable() == 1);
                  return 0;
              }),
              0);
}

TEST(Undumpable, ManyThreadsOfBothAreHiddenAllTheTime) {
    EXPECT_EQ(in_child([] {
                  const Library libraries[] = {Library(CGPU_TEST_HOLDER_ONE), Library(CGPU_TEST_HOLDER_TWO)};
                  std::atomic<int> seen{0};
                  std::vector<std::thread> threads;
                  for (unsigned i = 0; i < 4; ++i) {
                      threads.emplace_back([&, i] {
                          for (int round = 0; round < 2000; ++round) {
                              const Library& library = libraries[(i + static_cast<unsigned>(round)) % 2];
                              void* made = library.make();
                              if (dumpable() != 0) seen.fetch_add(1);
                              library.end(made);
                          }
                      });
                  }
                  for (auto& thread : threads) thread.join();
                  MUST(seen == 0);
                  MUST(dumpable() == 1);
                  return 0;
              }),
              0);
}

TEST(Undumpable, AForkedChildStartsAnew) {
    EXPECT_EQ(in_child([] {
                  const Library one(CGPU_TEST_HOLDER_ONE);
                  const Library two(CGPU_TEST_HOLDER_TWO);
                  one.handle_forks();
                  two.handle_forks();
                  void* a = one.make();
                  void* b = two.make();
                  const int of_child = in_child([&] {
                      MUST(dumpable() == 1);
                      // The forking thread leaves what it was in when it forked.
                      void* own = two.make();
                      one.end(a);
                      two.end(b);
                      MUST(dumpable() == 0);
                      two.end(own);
                      MUST(dumpable() == 1);
                      return 0;
                  });
                  MUST(of_child == 0);
                  MUST(dumpable() == 0);
                  one.end(a);
                  MUST(dumpable() == 0);
                  two.end(b);
                  MUST(dumpable() == 1);
                  return 0;
              }),
              0);
}

TEST(Undumpable, ChildrenForkedBesideManyThreadsAreAsTheyWere) {
    EXPECT_EQ(in_child([] {
                  const Library libraries[] = {Library(CGPU_TEST_HOLDER_ONE), Library(CGPU_TEST_HOLDER_TWO)};
                  for (const auto& library : libraries) library.handle_forks();
                  std::atomic<bool> stop{false};
                  std::vector<std::thread> threads;
                  for (unsigned i = 0; i < 2; ++i) {
                      threads.emplace_back([&, i] {
                          while (!stop) libraries[i].end(libraries[i].make());
                      });
                  }
                  int wrong = 0;
                  for (int round = 0; round < 200; ++round) {
                      wrong += in_child([&] {
                          if (dumpable() != 1) return 1;
                          libraries[0].end(libraries[0].make());
                          return dumpable() == 1 ? 0 : 1;
                      });
                  }
                  stop = true;
                  for (auto& thread : threads) thread.join();
                  MUST(wrong == 0);
                  MUST(dumpable() == 1);
                  return 0;
              }),
              0);
}

}  // namespace
}  // namespace cgpu::front
