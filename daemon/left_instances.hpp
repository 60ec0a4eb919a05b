#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/app/instances/service.hpp"
#include "daemon/app/memory/leases.hpp"
#include "daemon/link/server.hpp"
#include "daemon/store/instance_records.hpp"
#include "daemon/system/service_descriptors.hpp"

namespace cgpu {

/// What an earlier daemon left of instances that the state doesn't have, or has as they were before: records,
/// folders, leases, descriptors. An instance is taken up as its newer record has it, if the node has room for
/// that; what is left of others goes, unless a process uses it.
class LeftInstances {
  public:
    struct Outside {
        app::Service& service;
        link::Server& link;
        app::Leases& leases;
        store::InstanceRecords& records;
        system::ServiceDescriptors& descriptors;
    };

    /// Reads the records. Call before the service tells of the node.
    LeftInstances(const Outside& outside, const std::string& boot_id);

    /// Takes up those that fit. Call after the service has taken over what the state has.
    void take_up();
    /// The same for the others: before the driver's first answer the node may not know its GPUs. Then what is
    /// left goes. Call after each answer.
    void driver_answered();

  private:
    void forget_others();

    Outside outside_;
    std::vector<store::InstanceRecord> left_;
    std::uint64_t loaded_;  ///< the state's generation
    bool answered_ = false;
};

}  // namespace cgpu
