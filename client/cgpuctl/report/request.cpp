#include "client/cgpuctl/report/request.hpp"

#include "client/cgpuctl/events/since.hpp"
#include "core/model/quote.hpp"

namespace cgpu::cgpuctl::report {
namespace {

using client::ClientError;

client::Result<history::By> by_of(const std::string& text) {
    if (text.empty() || text == "name") return history::By::name;
    if (text == "gpu") return history::By::gpu;
    if (text == "day") return history::By::day;
    if (text == "user") return history::By::user;
    return client::fail(
        ClientError::Kind::usage,
        "--by " + model::quote(text) + ": it is none of name, gpu, day and user. Try: --by day.");
}

}  // namespace

client::Result<Request> parse_request(const Input& input, std::uint64_t now) {
    Request request;
    const auto by = by_of(input.by);
    if (!by) return tl::unexpected(by.error());
    request.by = *by;
    request.span = {0, now};
    if (!input.until.empty()) {
        const auto until = parse_since(input.until, now, "--until");
        if (!until) return tl::unexpected(until.error());
        request.span.to_us = *until;
        request.until_now = false;
    }
    if (!input.since.empty()) {
        const auto since = parse_since(input.since, now);
        if (!since) return tl::unexpected(since.error());
        request.span.from_us = *since;
        request.from_beginning = false;
    }
    if (request.span.from_us >= request.span.to_us)
        return client::fail(ClientError::Kind::usage,
                            "--since " + model::quote(input.since) + ": it is not before " +
                                (input.until.empty() ? "now" : "--until " + model::quote(input.until)) +
                                ". Try: --since 1h.");
    if (input.csv && input.json)
        return client::fail(ClientError::Kind::usage, "--csv and --json: a report has one form. Try: --csv.");
    if (input.svg == "-" && (input.csv || input.json))
        return client::fail(ClientError::Kind::usage,
                            "--svg -: the output is the table's already. Try: --svg report.svg.");
    if (input.csv) request.form = Request::Form::csv;
    if (input.json) request.form = Request::Form::json;
    request.svg = input.svg;
    return request;
}

}  // namespace cgpu::cgpuctl::report
