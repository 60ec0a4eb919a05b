#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace cgpu::system {

/// The full ids and the names of instances, by the short ids that lines of the log have. May be used by all
/// threads, because all of them log.
class InstanceNames {
  public:
    struct Name {
        std::string id;    ///< in full; empty: the short id isn't known
        std::string name;  ///< may be empty
    };

    void set(const std::string& short_id, Name name);
    void forget(const std::string& short_id);
    [[nodiscard]] Name find(std::string_view short_id) const;

  private:
    mutable std::mutex mutex_;
    std::map<std::string, Name, std::less<>> names_;
};

}  // namespace cgpu::system
