#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "core/wire/message.hpp"
#include "daemon/app/memory/leases.hpp"
#include "daemon/app/ports/descriptor_store.hpp"
#include "daemon/link/base/file.hpp"

namespace cgpu::link {

/// The driver's libraries of one instance, which its processes get by descriptor. They are those that its
/// mount namespace had where the fronts are now: the host's, or an image's own. A daemon that is started anew
/// gets them back from the descriptor store; without one it opens those that lie on the host where they lay,
/// and the instance's later processes are without an image's own.
class DriverFiles {
  public:
    /// `folder`: of the instance, where no container looks; it notes there where the files lie. What an
    /// earlier daemon had of this very instance is there again.
    DriverFiles(const app::InstanceKey& instance, const std::filesystem::path& folder,
                app::DescriptorStore& store);

    [[nodiscard]] bool any() const;
    /// `files` as the message says. Invalid: there are some already; they are not as the message says; one is
    /// no library for this machine, or was opened for writing.
    [[nodiscard]] app::Result<void> take(const wire::HandOver& message, std::vector<File> files);
    /// The instance is gone.
    void forget();

    /// For wire::DriverFiles: which there are, and their descriptors in the order of Library.
    [[nodiscard]] std::uint32_t libraries() const;
    [[nodiscard]] std::vector<int> fds() const;

  private:
    [[nodiscard]] std::string name_of(std::size_t library) const;
    void recover();
    void note(const wire::HandOver& message) const;

    app::InstanceKey instance_;
    std::filesystem::path note_;
    app::DescriptorStore& store_;
    std::array<File, wire::kLibraries> files_;
};

}  // namespace cgpu::link
