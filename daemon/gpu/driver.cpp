#include "daemon/gpu/driver.hpp"

#include <utility>

namespace cgpu::gpu {

void Driver::Queue::post(std::function<void()> call) {
    const std::lock_guard lock(mutex);
    if (loop) loop->post(std::move(call));
}

Driver::Driver(app::Loop& loop)
    : loop_(loop),
      queue_(std::make_shared<Queue>()),
      examining_(std::make_shared<decltype(examining_)::element_type>()) {
    queue_->loop = &loop;
    thread_ = std::thread([queue = queue_] { work(queue); });
}

Driver::~Driver() {
    {
        const std::lock_guard lock(queue_->mutex);
        queue_->closed = true;
        queue_->loop = nullptr;
        queue_->jobs.clear();
    }
    queue_->filled.notify_one();
    thread_.detach();
}

void Driver::work(const std::shared_ptr<Queue>& queue) {
    NvmlReader reader;
    for (;;) {
        Job job;
        {
            std::unique_lock lock(queue->mutex);
            queue->filled.wait(lock, [&] { return queue->closed || !queue->jobs.empty(); });
            if (queue->closed) return;
            job = std::move(queue->jobs.front());
            queue->jobs.pop_front();
        }
        job(reader);
    }
}

template <class Answer>
void Driver::ask(std::function<Answer(NvmlReader&)> question, std::function<void(Answer)> call) {
    // Shared by the two calls below; both run on the loop's thread, and the first one takes the callback.
    struct Pending {
        std::function<void(Answer)> call;
        app::WatchPtr patience;
    };
    auto pending = std::make_shared<Pending>();
    pending->call = std::move(call);
    const auto answer_once = [](const std::shared_ptr<Pending>& held, Answer answer) {
        const auto answer_call = std::exchange(held->call, nullptr);
        held->patience.reset();
        if (answer_call) answer_call(std::move(answer));
    };
    pending->patience = loop_.at(loop_.now() + kPatience, [pending, answer_once] {
        answer_once(pending,
                    model::refuse(model::Refusal::Reason::unsupported, "the NVIDIA driver",
                                  "it has not answered for 5 seconds", "look at nvidia-smi and dmesg"));
    });
    {
        const std::lock_guard lock(queue_->mutex);
        queue_->jobs.push_back([queue = queue_, pending, question = std::move(question),
                                answer_once](NvmlReader& reader) {
            queue->post([pending, answer_once, answer = question(reader)] { answer_once(pending, answer); });
        });
    }
    queue_->filled.notify_one();
}

void Driver::list(std::function<void(app::Result<model::SeenGpus>)> call) {
    ask<app::Result<model::SeenGpus>>([](NvmlReader& reader) { return reader.list(); }, std::move(call));
}

void Driver::processes(const model::Uuid& gpu,
                       std::function<void(app::Result<std::vector<app::DriverProcess>>)> call) {
    ask<app::Result<std::vector<app::DriverProcess>>>(
        [gpu](NvmlReader& reader) { return reader.processes(gpu); }, std::move(call));
}

void Driver::examine(std::function<void(const app::Result<app::ExaminedDriver>&)> call) {
    examining_->push_back(std::move(call));
    if (examining_->size() > 1) return;
    ask<app::Result<app::ExaminedDriver>>([](NvmlReader& reader) { return reader.examine(); },
                                          [waiting = examining_](const auto& answer) {
                                              const auto all = std::exchange(*waiting, {});
                                              for (const auto& each : all) each(answer);
                                          });
}

}  // namespace cgpu::gpu
