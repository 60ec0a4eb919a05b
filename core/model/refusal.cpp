#include "core/model/refusal.hpp"

#include <utility>

namespace cgpu::model {

Refusal make_refusal(Refusal::Reason reason, std::string_view what, std::string_view why,
                     std::string_view remedy) {
    std::string text;
    text.append(what).append(": ").append(why).append(". Try: ").append(remedy).append(".");
    return {reason, std::move(text)};
}

void also_try(Refusal& refusal, std::string_view remedy) {
    if (refusal.text.ends_with('.')) refusal.text.pop_back();
    refusal.text.append(", or ").append(remedy).append(".");
}

tl::unexpected<Refusal> refuse(Refusal::Reason reason, std::string_view what, std::string_view why,
                               std::string_view remedy) {
    return tl::unexpected(make_refusal(reason, what, why, remedy));
}

tl::unexpected<Objection> object(Refusal::Reason reason, std::string why, std::string remedy) {
    return object_to(reason, {}, std::move(why), std::move(remedy));
}

tl::unexpected<Objection> object_to(Refusal::Reason reason, std::string asked, std::string why,
                                    std::string remedy) {
    return tl::unexpected(Objection{reason, std::move(asked), std::move(why), std::move(remedy)});
}

tl::unexpected<Refusal> refuse(std::string_view what, const Objection& objection) {
    return refuse(objection.reason, what, objection.text(), objection.remedy);
}

std::string_view to_string(Refusal::Reason reason) {
    switch (reason) {
        case Refusal::Reason::invalid:
            return "invalid";
        case Refusal::Reason::not_found:
            return "not_found";
        case Refusal::Reason::exists:
            return "exists";
        case Refusal::Reason::busy:
            return "busy";
        case Refusal::Reason::no_space:
            return "no_space";
        case Refusal::Reason::no_memory:
            return "no_memory";
        case Refusal::Reason::not_permitted:
            return "not_permitted";
        case Refusal::Reason::unsupported:
            return "unsupported";
        case Refusal::Reason::try_again:
            return "try_again";
        case Refusal::Reason::storage:
            return "storage";
        case Refusal::Reason::changed:
            return "changed";
    }
    return "unknown";
}

}  // namespace cgpu::model
