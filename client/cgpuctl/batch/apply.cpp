// apply: several changes as one.
#include <fstream>
#include <iostream>

#include "client/cgpuctl/base/changes.hpp"
#include "client/cgpuctl/batch/apply.hpp"
#include "client/cgpuctl/batch/batch.hpp"
#include "client/cgpuctl/batch/missing.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/json.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::ClientError;

/// Longer ones can't be sent: cgpud takes 64 KiB of text.
constexpr std::size_t kMostBytes = 1 << 20;

client::Result<std::string> read_text(const std::string& file) {
    std::ifstream opened;
    const bool is_file = !file.empty() && file != "-";
    if (is_file) opened.open(file);
    std::istream& in = is_file ? opened : std::cin;
    std::string text(kMostBytes + 1, '\0');
    if (in) in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    // The end of the file is no fault, though less than was asked for was read.
    if (!in && !in.eof())
        return client::fail(ClientError::Kind::failed,
                            printable(file) +
                                ": it can't be read. Try: give a file with a command a line, or - for "
                                "standard input.");
    if (text.size() > kMostBytes)
        return client::fail(ClientError::Kind::usage,
                            printable(file) +
                                ": it is longer than 1MiB. Try: give a file with a command "
                                "a line.");
    return text;
}

/// With --skip-missing: leaves out what isn't there, and tells so. What ends between this reading and the
/// change is left out at a second attempt. Returns the generation.
client::Result<std::uint64_t> make_batch(Batch& batch, const std::string& name, const client::Making& how,
                                         const ApplyInput& input, client::Node& node, Terminal& terminal) {
    const auto drop = [&]() -> client::Result<void> {
        const auto left_out = drop_missing(batch, name, said_to_change(input), node);
        if (!left_out) return tl::unexpected(left_out.error());
        for (const std::string& sentence : *left_out) terminal.warning(sentence);
        return {};
    };
    if (input.skip_missing)
        if (auto done = drop(); !done) return tl::unexpected(done.error());
    auto generation = node.apply(batch.changes, how);
    if (generation || !input.skip_missing || generation.error().kind != ClientError::Kind::not_found)
        return generation;
    if (auto done = drop(); !done) return tl::unexpected(done.error());
    return node.apply(batch.changes, how);
}

}  // namespace

client::Result<void> apply(const ApplyInput& input, client::Node& node, Terminal& terminal) {
    const auto how = making_of(input);
    if (!how) return tl::unexpected(how.error());
    const auto text = read_text(input.file);
    if (!text) return tl::unexpected(text.error());
    const std::string name = input.file.empty() || input.file == "-" ? "standard input" : input.file;
    auto batch = read_batch(*text, printable(name)).and_then([&](const Batch& read) {
        return naming_every_gpu(read, printable(name), node);
    });
    if (!batch) return tl::unexpected(batch.error());
    const std::size_t asked = batch->changes.size();
    const auto generation = make_batch(*batch, printable(name), *how, input, node, terminal);
    if (!generation) return tl::unexpected(name_line(generation.error(), *batch, printable(name)));
    const std::size_t count = batch->changes.size();
    if (input.json) {
        Json json = {{"changes", count}, {"generation", *generation}, {"dry_run", input.dry_run}};
        if (input.skip_missing) json["skipped"] = asked - count;
        terminal.out() << to_text(json);
    } else if (count == 0 && asked > 0)
        terminal.done("All of the changes in " + printable(name) + " were left out; nothing was changed.");
    else if (count == 0)
        terminal.done("There is no change in " + printable(name) + "; nothing was changed.");
    else
        terminal.done(std::to_string(count) + (count == 1 ? " change" : " changes") +
                      (input.dry_run
                           ? " could be made; nothing was changed."
                           : " made; the node's generation is " + std::to_string(*generation) + "."));
    return {};
}

}  // namespace cgpu::cgpuctl
