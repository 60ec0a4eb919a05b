#pragma once

#include <string>
#include <vector>

#include "client/cgpuctl/output/people.hpp"
#include "client/cgpuctl/output/table.hpp"
#include "core/history/totals.hpp"

/// The rows of a report as a table, CSV and JSON. Pure.
namespace cgpu::cgpuctl::report {

/// What the first column is called: `NAME`, `GPU`, `DAY` or `USER`. Names have their owners beside them.
[[nodiscard]] Table to_table(const std::vector<history::Total>& totals, const history::Dimensions& by,
                             UserNames& users);
/// RFC 4180, but with bare line feeds. Units are bytes and seconds, shares are parts 0..1; an unknown one is
/// empty. The names of the columns are stable, and new ones come last.
[[nodiscard]] std::string to_csv(const std::vector<history::Total>& totals, const history::Dimensions& by);
/// The same figures by the same names, with the span in seconds since 1970.
[[nodiscard]] std::string to_json_text(const std::vector<history::Total>& totals,
                                       const history::Dimensions& by, const history::Span& span);

}  // namespace cgpu::cgpuctl::report
