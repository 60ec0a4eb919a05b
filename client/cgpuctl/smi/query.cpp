#include "client/cgpuctl/smi/query.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "client/cgpuctl/output/csv.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "client/cgpuctl/smi/fields.hpp"

namespace cgpu::cgpuctl::smi {
namespace {

using What = Request::What;

/// Many readers of CSV don't see that a cell is quoted if a blank stands in front of the quote.
std::string separator_before(const std::string& cell) { return cell.starts_with('"') ? "," : ", "; }

/// The fields that were asked for, which read_request has checked.
template <class Row>
std::vector<const Field<Row>*> chosen(const Request& request, std::span<const Field<Row>> all) {
    std::vector<const Field<Row>*> fields;
    for (const std::string& name : request.fields)
        for (const Field<Row>& field : all)
            if (field.name == name) fields.push_back(&field);
    return fields;
}

template <class Row>
std::string header_of(const Request& request, std::span<const Field<Row>> all) {
    std::string text;
    for (const auto* field : chosen(request, all)) {
        text += (text.empty() ? "" : ", ") + std::string(field->name);
        if (!field->unit.empty()) text += " [" + std::string(field->unit) + "]";
    }
    return text + "\n";
}

template <class Row>
std::string line_of(const Request& request, std::span<const Field<Row>> all, const Row& row) {
    std::string text;
    bool first = true;
    for (const auto* field : chosen(request, all)) {
        const std::string value = field->value(row);
        // No number here is below 0, so what begins with a sign is text.
        const std::string cell = value.empty() ? "[N/A]" : csv_cell(value);
        text += (first ? "" : separator_before(cell)) + cell;
        if (request.units && !value.empty() && !field->unit.empty()) text += " " + std::string(field->unit);
        first = false;
    }
    return text + "\n";
}

Json share_or_null(std::optional<double> share) { return share ? Json(*share) : Json(); }

template <class Row>
std::string help_of(std::span<const Field<Row>> fields) {
    std::size_t width = 0;
    for (const Field<Row>& field : fields) width = std::max(width, field.name.size());
    std::string text;
    for (const Field<Row>& field : fields)
        text += std::string(field.name) + std::string(width - field.name.size() + 2, ' ') +
                std::string(field.help) + (field.unit.empty() ? "" : " [" + std::string(field.unit) + "]") +
                "\n";
    return text;
}

}  // namespace

std::string csv_header(const Request& request) {
    return request.what == What::query_gpu ? header_of(request, gpu_fields())
                                           : header_of(request, instance_fields());
}

std::string csv_rows(const Request& request, const View* before, const View& now) {
    std::string text;
    if (request.what == What::query_gpu) {
        for (const client::Gpu& gpu : now.snapshot.gpus)
            text += line_of(request, gpu_fields(), GpuRow{now, before, gpu});
        return text;
    }
    for (const client::Instance& instance : now.snapshot.instances) {
        for (const client::OnGpu& place : instance.gpus)
            text += line_of(request, instance_fields(), InstanceRow{now, before, instance, &place, nullptr});
        for (const client::ForeignGpu& foreign : instance.foreign_gpus)
            text +=
                line_of(request, instance_fields(), InstanceRow{now, before, instance, nullptr, &foreign});
    }
    return text;
}

std::string json_text(const View* before, const View& now) {
    Json gpus = Json::array();
    for (const client::Gpu& gpu : now.snapshot.gpus) {
        Json each = to_json(gpu);
        each["instances"] = instances_on(now.snapshot, gpu);
        each["utilization_ratio"] = share_or_null(utilization(gpu, before, now));
        gpus.push_back(std::move(each));
    }
    Json instances = Json::array();
    for (const client::Instance& instance : now.snapshot.instances) {
        Json each = to_json(instance);
        for (std::size_t i = 0; i < instance.gpus.size(); ++i)
            each["gpus"][i]["utilization_ratio"] =
                share_or_null(utilization(instance, instance.gpus[i], before, now));
        instances.push_back(std::move(each));
    }
    return to_text(
        {{"timestamp_seconds", now.taken},
         {"interval_seconds", now.interval ? Json(static_cast<double>(now.interval->count()) / 1e9) : Json()},
         {"version", now.snapshot.version},
         {"module_version", now.snapshot.module_version},
         {"gpus", std::move(gpus)},
         {"instances", std::move(instances)}});
}

std::string fields_help(Request::What what) {
    return what == What::help_query_gpu ? help_of(gpu_fields()) : help_of(instance_fields());
}

}  // namespace cgpu::cgpuctl::smi
