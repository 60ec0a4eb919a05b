#include "client/cgpuctl/report/request.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "client/cgpuctl/events/since.hpp"
#include "client/cgpuctl/report/period.hpp"
#include "core/model/quote.hpp"

namespace cgpu::cgpuctl::report {
namespace {

using client::ClientError;
using history::By;

constexpr std::array<std::pair<std::string_view, By>, 4> kDimensions = {
    {{"name", By::name}, {"gpu", By::gpu}, {"day", By::day}, {"user", By::user}}};

client::Result<history::Dimensions> dimensions_of(const std::string& text) {
    history::Dimensions all;
    const std::string list = text.empty() ? "name" : text;
    for (std::size_t begin = 0; begin <= list.size();) {
        const auto end = std::min(list.find(',', begin), list.size());
        const auto word = list.substr(begin, end - begin);
        const auto known = std::ranges::find(kDimensions, word, &std::pair<std::string_view, By>::first);
        if (known == kDimensions.end())
            return client::fail(ClientError::Kind::usage,
                                "--by " + model::quote(word) +
                                    ": it is none of name, gpu, day and user. Try: --by user,day.");
        if (std::ranges::find(all, known->second) != all.end())
            return client::fail(ClientError::Kind::usage, "--by " + model::quote(text) + ": it has " + word +
                                                              " twice. Try: --by user,day.");
        all.push_back(known->second);
        begin = end + 1;
    }
    return all;
}

client::Result<void> take_times(const ReportInput& input, std::uint64_t now, Request& request) {
    request.span = {0, now};
    if (!input.period.empty()) {
        if (!input.since.empty() || !input.until.empty())
            return client::fail(ClientError::Kind::usage,
                                "--period has a beginning and an end, so it goes with "
                                "neither --since nor --until. Try: --period alone.");
        const auto period = parse_period(input.period, now);
        if (!period) return tl::unexpected(period.error());
        request.span = {period->from_us, std::min(period->to_us, now)};
        request.from_beginning = request.until_now = false;
    }
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
    if (request.span.from_us < request.span.to_us) return {};
    if (!input.period.empty())
        return client::fail(ClientError::Kind::usage, "--period " + model::quote(input.period) +
                                                          ": it has not begun. Try: --period last-month.");
    if (input.since.empty())
        return client::fail(ClientError::Kind::usage, "--until " + model::quote(input.until) +
                                                          ": nothing is from before it. Try: --until today.");
    return client::fail(ClientError::Kind::usage,
                        "--since " + model::quote(input.since) + ": it is not before " +
                            (input.until.empty() ? "now" : "--until " + model::quote(input.until)) +
                            ". Try: --since 1h.");
}

}  // namespace

client::Result<Request> parse_request(const ReportInput& input, std::uint64_t now) {
    Request request;
    const auto by = dimensions_of(input.by);
    if (!by) return tl::unexpected(by.error());
    request.by = *by;
    if (const auto taken = take_times(input, now, request); !taken) return tl::unexpected(taken.error());
    if (!input.svg.empty() && request.by.size() > 1)
        return client::fail(ClientError::Kind::usage, "--svg with --by " + model::quote(input.by) +
                                                          ": a plot has rows of one kind. Try: --by user.");
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
