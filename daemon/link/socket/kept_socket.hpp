#pragma once

#include <string>

#include "daemon/app/memory/pool/lease_key.hpp"
#include "daemon/app/ports/descriptor_store.hpp"
#include "files/descriptor.hpp"

namespace cgpu::link {

/// The listening socket of one instance in the descriptor store. While no daemon runs, processes connect to
/// it and say Hello; the next daemon takes it over and answers them at once. Without it they would connect in
/// vain, and try again only after a pause.
class KeptSocket {
  public:
    KeptSocket(app::DescriptorStore& store, app::InstanceKey instance);

    /// The socket that an earlier daemon kept of this very instance, if it is the one at FOLDER/socket.
    /// `folder`: a descriptor.
    [[nodiscard]] Descriptor take(int folder);
    /// FOLDER/socket was bound anew: its socket is the one that keep() keeps.
    void bound(int folder);
    void keep(int socket);
    /// The instance has ended.
    void forget();

  private:
    [[nodiscard]] std::string name_in(int folder) const;

    app::DescriptorStore& store_;
    app::InstanceKey instance_;
    std::string name_;  ///< in the store; "": it can't be kept
    bool kept_ = false;
};

}  // namespace cgpu::link
