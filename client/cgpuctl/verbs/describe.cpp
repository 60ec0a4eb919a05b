// describe: the node as JSON, of one moment.
#include "client/cgpuctl/output/json.hpp"
#include "client/cgpuctl/verbs/looking.hpp"

namespace cgpu::cgpuctl {

client::Result<void> describe(const Input&, client::Node& node, Terminal& terminal) {
    const auto text = node.describe();
    if (!text) return tl::unexpected(text.error());
    const auto json = Json::parse(*text, nullptr, false);
    if (json.is_discarded())
        return client::fail(client::ClientError::Kind::failed,
                            "cgpud: its description of the node is no JSON. Try: use the cgpuctl of the same "
                            "version (cgpuctl --version, cgpuctl status).");
    terminal.out() << to_text(json);
    return {};
}

}  // namespace cgpu::cgpuctl
