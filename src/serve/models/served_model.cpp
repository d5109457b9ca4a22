#include "serve/models/served_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "serve/models/model_file.h"

namespace millrace::serve {
namespace {

constexpr size_t kFirstOpenBytes = 64 << 10;

}  // namespace

ServedModel::ServedModel(std::string name, Model model, Metrics& metrics)
    : name_(std::move(name)),
      model_(std::move(model)),
      expected_(std::make_unique<std::atomic<size_t>[]>(model_.outputs().size())),
      metrics_(metrics.add_model(name_, version_)) {
  for (size_t i = 0; i < model_.outputs().size(); ++i) expected_[i] = kFirstOpenBytes;
}

Result<std::unique_ptr<ServedModel>> ServedModel::load(const std::string& path,
                                                       const Options& options, Device& device,
                                                       Metrics& metrics) {
  MILLRACE_ASSIGN_OR_RETURN(Model model, load_model_file(path, options, device));
  std::unique_ptr<ServedModel> served(
      new ServedModel(served_name(path), std::move(model), metrics));
  const uint32_t units = options.units != 0 ? options.units : std::max(1U, device.lanes());
  for (uint32_t i = 0; i < units; ++i) {
    MILLRACE_ASSIGN_OR_RETURN(Unit unit,
                              device.create_unit({.name = fmt::format("{}/{}", served->name_, i),
                                                  .depth = options.queue_depth,
                                                  .when_full = WhenFull::kFail,
                                                  .callback_order = CallbackOrder::kCompletion,
                                                  .caller_helps = CallerHelps::kNever,
                                                  .auto_reset = true}));
    served->units_.push_back(std::move(unit));
  }
  return served;
}

bool ServedModel::ready() const {
  const auto healthy = [](const Unit& unit) { return unit.state() == UnitState::kHealthy; };
  return !closed_ && std::ranges::all_of(units_, healthy);
}

uint32_t ServedModel::in_flight() const {
  uint32_t jobs = 0;
  for (const Unit& unit : units_) jobs += unit.in_flight();
  return jobs;
}

Result<Job> ServedModel::submit(const JobArgs& args) {
  Unit& idlest = *std::ranges::min_element(units_, {}, &Unit::in_flight);
  Result<Job> job = idlest.try_submit(model_, args);
  if (job.ok() || job.status().code() != StatusCode::kQueueFull) return job;
  for (Unit& unit : units_) {
    if (&unit == &idlest) continue;
    job = unit.try_submit(model_, args);
    if (job.ok() || job.status().code() != StatusCode::kQueueFull) return job;
  }
  return job;
}

void ServedModel::close() {
  closed_ = true;
  for (Unit& unit : units_) unit.close();
}

}  // namespace millrace::serve
