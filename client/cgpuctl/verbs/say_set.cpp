#include "client/cgpuctl/verbs/say_set.hpp"

#include "client/cgpuctl/output/format.hpp"

namespace cgpu::cgpuctl {

client::Setting setting_of(const Input& input) { return {input.persist, input.force, input.dry_run}; }

void say_set(const Input& input, const std::string& figure, const char* key, const Json& value,
             const std::string& kept_for, Terminal& terminal) {
    const bool kept = !kept_for.empty();
    if (input.json) {
        terminal.out() << to_text({{"instance", input.instance},
                                   {key, value},
                                   {"kept", kept},
                                   {"kept_for", kept ? Json(kept_for) : Json()},
                                   {"dry_run", input.dry_run}});
        return;
    }
    const std::string start = "Instance " + input.instance + ": " + figure;
    const std::string next = "for the next starts of " + printable(kept_for);
    if (input.dry_run)
        terminal.done(start + " could be set" + (kept ? ", and kept " + next : "") +
                      "; nothing was changed.");
    else
        terminal.done(start +
                      (kept ? " is set, and kept " + next + "." : " is set, until the instance ends."));
}

}  // namespace cgpu::cgpuctl
