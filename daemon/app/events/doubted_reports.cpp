#include "daemon/app/events/doubted_reports.hpp"

#include <string>

namespace cgpu::app {

void DoubtedReports::happened(const model::Instance& instance, const model::Uuid& gpu, std::int32_t process) {
    // Instances come and go without end; a series without a pause under way begins anew anyway.
    std::erase_if(series_, [](const auto& each) { return each.second->quiet(); });
    Event event = event_of(EventType::report_doubted, log::Level::warn, instance,
                           "instance " + instance.id.short_id() + ": process " + std::to_string(process) +
                               " reports compute on GPU " + gpu.to_string() +
                               " that can't be true: nobody is held for the instance there for 10 s");
    event.gpu = gpu;
    event.process = process;
    auto& series = series_[{instance.id, gpu}];
    if (!series)
        series = std::make_unique<Repeated>(loop_, [this](Event told) { events_.happened(std::move(told)); });
    series->happened(std::move(event));
}

}  // namespace cgpu::app
