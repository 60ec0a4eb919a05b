#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/wire/message.hpp"
#include "core/wire/pages.hpp"

namespace cgpu::link::test {

/// The module's side of the link, as small as it can be: it blocks, and has one thread.
class Front {
  public:
    ~Front() { disconnect(); }

    bool connect(const std::string& path);
    void disconnect();
    /// Returns why cgpud refused. Why::none: it welcomed the front, and the pages are mapped. Nothing: the
    /// connection ended.
    std::optional<wire::Why> hello(wire::Role role, std::uint32_t oldest = wire::kOldestVersion,
                                   std::uint32_t newest = wire::kVersion);
    bool send_bytes(const void* bytes, std::size_t size);
    /// Sends it with a descriptor for each of the files, which are closed afterwards.
    bool send_files(const void* bytes, std::size_t size, std::vector<int> files);
    template <class M>
    bool send(const M& message) {
        return send_bytes(&message, sizeof message);
    }
    /// Returns nothing where the connection ended. Recalls that come before the Answer are answered.
    std::optional<wire::Answer> ask(wire::Topic topic, std::uint64_t bytes, std::uint32_t gpu = 0);
    /// Returns all their pages, one after the other in the order of their arrival.
    std::vector<wire::ProcessUse> processes(std::uint32_t gpu = 0);
    void give(std::uint64_t bytes);
    /// Says which engine runs here, as a front does after each Welcome.
    bool tell_engine();
    /// Charges that much of the lease.
    void charge(std::uint64_t bytes);
    /// Reads one packet, and answers it where it is a Recall or a Switch. Empty: the connection ended.
    std::vector<std::byte> receive();

    std::optional<wire::Welcome> welcome;
    std::vector<int> page_fds;
    std::uint64_t lease = 0;
    std::uint64_t charged = 0;
    const wire::Orders* orders = nullptr;
    wire::Reports* reports = nullptr;
    wire::Doorbell* doorbell = nullptr;
    int fd = -1;
    bool answers_recalls = true;
    std::uint32_t runs = 0x000100;  ///< the engine, as Switched says it
    wire::SwitchResult switch_result = wire::SwitchResult::done;
    std::string switched_to;  ///< the path in the last Switch

  private:
    std::uint64_t request_ = 0;
};

}  // namespace cgpu::link::test
