#include "client/run/mounts/hand_over.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <string>

#include <gtest/gtest.h>

#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::client {
namespace {

/// A cgpud that refuses the first Hello when the files have arrived, and closes the connection with them
/// unread.
class Refusing {
  public:
    explicit Refusing(const std::string& folder)
        : listening_(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        (folder + "/socket").copy(address.sun_path, sizeof address.sun_path - 1);
        listens_ = bind(listening_.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
                   listen(listening_.fd(), 4) == 0;
        child_ = fork();
        if (child_ == 0) {
            refuse_one();
            _exit(0);
        }
    }
    Refusing(const Refusing&) = delete;
    Refusing& operator=(const Refusing&) = delete;
    ~Refusing() { waitpid(child_, nullptr, 0); }
    [[nodiscard]] bool listens() const { return listens_; }

  private:
    void refuse_one() const {
        const Descriptor front(accept(listening_.fd(), nullptr, nullptr));
        std::byte byte{};
        recv(front.fd(), &byte, sizeof byte, 0);
        recv(front.fd(), &byte, sizeof byte, MSG_PEEK);  // the files are there, and nobody takes them
        auto refused = wire::make_message<wire::Refused>();
        wire::put_text(refused.text, "no such instance");
        send(front.fd(), &refused, sizeof refused, MSG_NOSIGNAL);
    }

    Descriptor listening_;
    bool listens_ = false;
    pid_t child_ = -1;
};

TEST(HandOver, ARefusalIsReadAlsoIfTheFilesWereNot) {
    const TempRoot folder;
    const Refusing daemon(folder.path());
    ASSERT_TRUE(daemon.listens());
    std::vector<DriverFile> files;
    files.push_back({wire::Library::cuda, Descriptor(open("/proc/self/exe", O_RDONLY | O_CLOEXEC)), "/x"});
    const auto taken = hand_over(folder.path(), files);
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().text, "cgpud: no such instance");
}

}  // namespace
}  // namespace cgpu::client
