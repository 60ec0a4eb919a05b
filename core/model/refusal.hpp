#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace cgpu::model {

/// Why a request was not carried out. The reason selects the errno or bus error; the text is for users.
struct Refusal {
    enum class Reason {
        invalid,        ///< EINVAL: the value is invalid or out of range
        not_found,      ///< ENOENT: no such GPU or instance
        exists,         ///< EEXIST: already there
        busy,           ///< EBUSY: running instances or processes block it
        no_space,       ///< ENOSPC: not enough weight, or no place for another instance
        no_memory,      ///< ENOMEM: not enough GPU memory
        not_permitted,  ///< EPERM: the caller may not do that
        unsupported,    ///< EOPNOTSUPP: this GPU or this combination is not served
        try_again,      ///< EAGAIN: an instance that holds the resources is just ending
        storage,        ///< EIO: it could not be written to disk, so it was not done
        changed,        ///< EAGAIN: the node isn't any more what the caller saw
    };
    Reason reason = Reason::invalid;
    /// `what: why. Try: what to change.`, one line.
    std::string text;

    friend bool operator==(const Refusal&, const Refusal&) = default;
};

/// A refusal that does not yet name what was refused: the caller adds that.
struct Objection {
    Refusal::Reason reason = Refusal::Reason::invalid;
    std::string asked;  ///< what the reason compares with what there is: `4GiB`; empty: it compares nothing
    std::string why;
    std::string remedy;

    /// `4GiB is asked for, and 1024MiB of 16130MiB is free`, or `why` alone.
    [[nodiscard]] std::string text() const {
        return asked.empty() ? why : asked + " is asked for, and " + why;
    }
};

[[nodiscard]] tl::unexpected<Objection> object(Refusal::Reason reason, std::string why, std::string remedy);
/// To something that is asked for, because of what there is.
[[nodiscard]] tl::unexpected<Objection> object_to(Refusal::Reason reason, std::string asked, std::string why,
                                                  std::string remedy);

/// Builds the text `what: why. Try: remedy.` from its parts, each given without a full stop at its end.
[[nodiscard]] Refusal make_refusal(Refusal::Reason reason, std::string_view what, std::string_view why,
                                   std::string_view remedy);

/// Adds a remedy after the existing ones: `… Try: that, or this.`
void also_try(Refusal& refusal, std::string_view remedy);

/// make_refusal() in the form that a function returning tl::expected<…, Refusal> returns.
[[nodiscard]] tl::unexpected<Refusal> refuse(Refusal::Reason reason, std::string_view what,
                                             std::string_view why, std::string_view remedy);

[[nodiscard]] tl::unexpected<Refusal> refuse(std::string_view what, const Objection& objection);

/// `invalid`, `not_found`, …: stable names for logs and metrics.
[[nodiscard]] std::string_view to_string(Refusal::Reason reason);

}  // namespace cgpu::model
