#pragma once

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
    /// Reads the records of this boot.
    LeftInstances(store::InstanceRecords& records, app::Processes& processes, const std::string& boot_id);

    /// Puts those that are newer than the loaded state into it, all together. True: it has changed. Call
    /// before anything is made of the state. A state of an earlier boot, of which nothing may hold any more,
    /// is left as it is.
    [[nodiscard]] bool complete(model::Node& loaded);

    struct Outside {
        app::Service& service;
        link::Server& link;
        app::Leases& leases;
        system::ServiceDescriptors& descriptors;
    };
    /// Takes up the others: before the driver's first answer the node may not know their GPUs. Then what is
    /// left of instances that nobody knows goes. Call after each answer.
    void driver_answered(const Outside& outside);

  private:
    void forget_others(const Outside& outside);

    store::InstanceRecords& records_;
    std::string boot_id_;
    std::vector<model::InstanceRecord> left_;  ///< those whose first process lives come first
    bool answered_ = false;
};

}  // namespace cgpu
