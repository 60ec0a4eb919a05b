#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "client/cgpuctl/output/people.hpp"
#include "client/cgpuctl/smi/reading.hpp"
#include "client/cgpuctl/top/model/rows.hpp"

namespace cgpu::cgpuctl::top {

/// Readings of the node, one after the other, as rows with a history.
class Model {
  public:
    /// The readings of the history that are kept.
    static constexpr std::size_t kKept = 120;

    /// `local`: names of users are those of this machine.
    explicit Model(bool local = true) : users_(local) {}

    void add(smi::Reading reading);
    /// A reading has failed: figures of the next one don't refer to those before the gap. The rows stay.
    void gap() { before_.reset(); }

    [[nodiscard]] const Rows& rows() const { return rows_; }
    [[nodiscard]] const std::string& version() const { return version_; }  ///< of cgpud
    [[nodiscard]] std::uint64_t taken() const { return taken_; }           ///< seconds since 1970

  private:
    [[nodiscard]] InstanceRow row_of(const client::Instance& instance, const client::OnGpu& place,
                                     const smi::View& now);

    UserNames users_;
    std::optional<smi::Reading> before_;
    std::map<PlaceId, History> history_;
    Rows rows_;
    std::string version_;
    std::uint64_t taken_ = 0;
};

}  // namespace cgpu::cgpuctl::top
