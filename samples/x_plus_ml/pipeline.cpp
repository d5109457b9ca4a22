#include "pipeline.hpp"

#include <chrono>
#include <exception>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <thread>

namespace {

constexpr std::size_t kQueueDepth = 2;

// One job for each core, and two that wait, so that no core does.
unsigned jobs_under_way() {
  return std::thread::hardware_concurrency() + 2;
}

// Does the work unless the frame has failed, and keeps why it fails.
template <class Work>
void attempt(Frame& frame, Work&& work) {
  if (!frame.failure.empty()) return;
  try {
    work();
  } catch (const std::exception& error) {
    frame.failure = error.what();
  }
}

void join(std::vector<std::thread>& threads) {
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

struct Pipeline::Run {
  Input& input;
  const Deliver& deliver;
  std::array<BoundedQueue<Frame*>, kStages> queues;  // in front of each stage
  RunReport report;
};

Pipeline::Pipeline(const AppConfig& config)
    : device_(vart::Device::get_device_hdl(config.device_index, config.xclbin)),
      most_jobs_(jobs_under_way()) {
  for (const ModelConfig& model : config.models) {
    try {
      models_.push_back(std::make_unique<Model>(model, device_, most_jobs_, busy_[kInference]));
    } catch (const std::exception& error) {
      throw std::runtime_error(model.archive + ": " + error.what());
    }
  }
  // Enough to fill every queue while every stage has one in hand.
  const std::size_t count = most_jobs_ + 3 * kQueueDepth + kStages;
  for (std::size_t i = 0; i < count; ++i) {
    frames_.push_back(std::make_unique<Frame>(device_));
    for (const auto& model : models_) frames_.back()->models.push_back(model->make_frame());
  }
}

RunReport Pipeline::run(Input& input, const Deliver& deliver) {
  using Frames = BoundedQueue<Frame*>;
  // All frames whose jobs are under way are in the queue of postprocess.
  Run run{input,
          deliver,
          {Frames(size()), Frames(kQueueDepth), Frames(kQueueDepth), Frames(most_jobs_),
           Frames(kQueueDepth)},
          {}};
  for (const auto& frame : frames_) run.queues[kRead].push(frame.get());
  const auto start = std::chrono::steady_clock::now();
  serve_all(run);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  run.report.milliseconds = time.count();
  for (const auto& model : models_) model->finish();
  for (std::size_t stage = 0; stage < kStages; ++stage)
    run.report.busy_milliseconds[stage] = busy_[stage].take_milliseconds();
  return run.report;
}

void Pipeline::serve_all(Run& run) {
  std::vector<std::thread> threads;
  try {
    // The first stage last: without it nothing moves, and the others end when their queues do.
    for (const Stage stage : {kOutput, kPostprocess, kInference, kPreprocess, kRead})
      threads.emplace_back([this, stage, &run] { serve(stage, run); });
  } catch (...) {
    for (auto& queue : run.queues) queue.close();
    join(threads);
    throw;
  }
  join(threads);
}

void Pipeline::serve(Stage stage, Run& run) {
  const Step step = step_of(stage, run);
  auto& out = run.queues[(stage + 1) % kStages];
  for (std::optional<Frame*> frame; (frame = run.queues[stage].pop()) && step(**frame);)
    out.push(*frame);
  out.close();
}

Pipeline::Step Pipeline::step_of(Stage stage, Run& run) {
  switch (stage) {
    case kRead:
      return [&run, this](Frame& frame) { return read(run, frame); };
    case kPreprocess:
      return [this](Frame& frame) {
        attempt(frame, [&] { preprocess(frame); });
        return true;
      };
    case kInference:
      return [this](Frame& frame) {
        attempt(frame, [&] { submit(frame); });
        return true;
      };
    case kPostprocess:
      return [this](Frame& frame) {
        collect(frame);
        attempt(frame, [&] { postprocess(frame); });
        return true;
      };
    default:
      return [&run, this](Frame& frame) {
        const BusyScope busy(busy_[kOutput]);
        attempt(frame, [&] { run.deliver(frame); });
        report_failure(run, frame);
        return true;
      };
  }
}

bool Pipeline::read(Run& run, Frame& frame) {
  const BusyScope busy(busy_[kRead]);
  frame.name.clear();
  frame.failure.clear();
  bool is_frame = true;
  attempt(frame, [&] { is_frame = run.input.next(frame.picture, frame.name); });
  if (is_frame) frame.number = run.report.frames++;
  return is_frame;
}

void Pipeline::report_failure(Run& run, const Frame& frame) {
  if (frame.failure.empty()) return;
  ++run.report.failed;
  std::cerr << "[ERROR] frame " + std::to_string(frame.number) + ", " + frame.name + ": " +
                   frame.failure + "\n";
}

void Pipeline::preprocess(Frame& frame) {
  const BusyScope busy(busy_[kPreprocess]);
  for (std::size_t i = 0; i < models_.size(); ++i)
    models_[i]->preprocess(frame.picture.frame(), frame.models[i]);
}

void Pipeline::submit(Frame& frame) {
  for (std::size_t i = 0; i < models_.size(); ++i) models_[i]->submit(frame.models[i]);
}

// Also of a frame that has failed, whose buffers the jobs use.
void Pipeline::collect(Frame& frame) {
  for (std::size_t i = 0; i < models_.size(); ++i) {
    const std::string failure = models_[i]->collect(frame.models[i]);
    if (frame.failure.empty()) frame.failure = failure;
  }
}

void Pipeline::postprocess(Frame& frame) {
  const BusyScope busy(busy_[kPostprocess]);
  for (std::size_t i = 0; i < models_.size(); ++i)
    models_[i]->postprocess(frame.picture.frame().get_video_info(), frame.models[i]);
}

double Pipeline::run_alone(Stage stage, std::size_t frames, Input& input) {
  for (std::size_t i = 0; i < frames; ++i) {
    Frame& frame = *frames_[i % size()];
    switch (stage) {
      case kRead: {
        const BusyScope busy(busy_[kRead]);
        input.next(frame.picture, frame.name);
        break;
      }
      case kPreprocess:
        preprocess(frame);
        break;
      case kInference:
        collect(frame);
        submit(frame);
        break;
      default:
        postprocess(frame);
    }
  }
  for (const auto& frame : frames_) collect(*frame);
  for (const auto& model : models_) model->finish();
  return busy_[stage].take_milliseconds();
}
