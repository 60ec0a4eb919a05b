#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "core/wire/message.hpp"
#include "daemon/app/memory/leases.hpp"
#include "daemon/app/ports/descriptor_store.hpp"
#include "daemon/app/ports/driver_watch.hpp"
#include "daemon/app/ports/log.hpp"
#include "daemon/link/driver/file_intake.hpp"
#include "files/descriptor.hpp"

namespace cgpu::link {

/// The driver's libraries of one instance, which its processes get by descriptor. They are the files that its
/// mount namespace had where the fronts are mounted now: the host's, or the image's own. A restarted daemon
/// gets them back from the descriptor store. Without a store it opens those of the host by their paths; then
/// the instance's later processes can't use an image's own.
///
/// It tells the DriverWatch of the libcuda among them.
class DriverFiles {
  public:
    /// `folder`: of the instance, which no container can see; the paths of the files are noted there. Files
    /// that an earlier daemon had of this very instance are restored.
    DriverFiles(const model::Instance& instance, const std::filesystem::path& folder,
                app::DescriptorStore& store, app::DriverWatch& watch);

    [[nodiscard]] bool any() const;
    /// Whether files were handed over, even if a restarted daemon doesn't find them any more: from then on
    /// the instance's processes are its program's.
    [[nodiscard]] bool were_taken() const { return taken_; }
    /// Invalid: they were handed over already; something is wrong with these.
    [[nodiscard]] app::Result<void> take(FileIntake::Came came);
    /// The instance has ended.
    void forget();

    /// For wire::DriverFiles: which libraries there are, and their descriptors in the order of Library.
    [[nodiscard]] std::uint32_t libraries() const;
    [[nodiscard]] std::vector<int> fds() const;

  private:
    [[nodiscard]] std::string name_of(std::size_t library) const;
    void recover();
    void tell(const std::string& path) const;
    void note(const wire::HandOver& message) const;

    app::InstanceKey instance_;
    log::Subject about_;
    std::filesystem::path note_;
    app::DescriptorStore& store_;
    app::DriverWatch& watch_;
    std::array<Descriptor, wire::kLibraries> files_;
    bool taken_ = false;
};

}  // namespace cgpu::link
