#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "daemon/store/migrate.hpp"
#include "daemon/store/state.hpp"

namespace cgpu::store {

/// Why a text is not a valid state: the fault with its place, and a remedy.
struct Unreadable {
    enum class Kind {
        damaged,
        other_version,  ///< another cgpud can read it
    };

    std::string why;
    std::string remedy;
    Kind kind = Kind::damaged;
};

/// The state as JSON, one field per line, the version first: the package's scripts read it in this form, too.
/// Each GPU, each instance, and each kept setting is one line. The last field is a checksum
/// (sealed_text.hpp). Names that are not UTF-8 are written with replacement characters.
[[nodiscard]] std::string write_state(const State& state);

/// Writes one state after another. It keeps the lines of the last one, and makes only those anew whose
/// instance has changed: with hundreds of instances, making all takes most of the time of a change.
class StateText {
  public:
    /// As write_state().
    [[nodiscard]] std::string of(const State& state);
    /// The memory of a text that isn't needed any more is for the next one: the kernel clears new memory.
    void reuse(std::string text) { memory_ = std::move(text); }

  private:
    struct InstanceLine {
        std::shared_ptr<const model::Instance> instance;
        std::string line;
    };
    void gpus(const std::vector<model::Gpu>& gpus);
    void instances(const model::Instances& instances);
    void kept(const model::Shared<model::Kept>& kept);
    /// With an entry a line.
    [[nodiscard]] std::string filled(std::string_view document);

    std::vector<model::Gpu> gpus_;
    std::vector<std::string> gpu_lines_;
    std::vector<InstanceLine> instances_;  ///< by id
    model::Shared<model::Kept> kept_;
    std::vector<std::string> kept_lines_;
    std::string memory_;
};

/// Reads what write_state() wrote, of this version or an older one. Missing, unknown or invalid fields are an
/// error, and so are a state that violates the rules of Node, and a wrong checksum. A text without a checksum
/// has been changed by hand, or is of a version that had none.
[[nodiscard]] tl::expected<State, Unreadable> read_state(std::string_view text,
                                                         const Layouts& layouts = Layouts::today());

}  // namespace cgpu::store
