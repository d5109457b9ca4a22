#include "quantise/measure/hw_view_cost.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "quantise/measure/scores.h"

namespace millrace::quantise {
namespace {

using graph::BoundaryQuantisation;
using graph::CompiledModel;

// Rounds the elements of one boundary tensor as its HW view does, and accumulates their errors.
class ViewRounding {
 public:
  ViewRounding(const BoundaryQuantisation& own, const graph::Boundary& boundary)
      : own_(own), view_{boundary.hw->type, boundary.quant} {}

  // Returns `value` as rounded by the HW view. Adds the error that remains after rounding to the
  // model's own quantisation, in units of its scale. A NaN is returned as it is.
  float through_view(float value) {
    if (std::isnan(value)) return value;
    const double held = graph::nearest_number(view_, value);
    const double distance =
        std::fabs(graph::nearest_number(own_, held) - graph::nearest_number(own_, value)) /
        own_.parameters.scale;
    largest_ = std::max(largest_, distance);
    squares_ += distance * distance;
    ++count_;
    return static_cast<float>(held);
  }

  graph::RequantisationError error() const {
    return {largest_, count_ == 0 ? 0 : std::sqrt(squares_ / static_cast<double>(count_))};
  }

 private:
  const BoundaryQuantisation own_, view_;
  double largest_ = 0, squares_ = 0;
  size_t count_ = 0;
};

// By boundary; empty if its HW view is not requantised.
std::vector<std::optional<ViewRounding>> view_roundings(
    const std::vector<graph::Boundary>& boundaries,
    const std::vector<std::optional<BoundaryQuantisation>>& own) {
  std::vector<std::optional<ViewRounding>> roundings(boundaries.size());
  for (size_t i = 0; i < boundaries.size(); ++i)
    if (boundaries[i].requantised) roundings[i].emplace(*own[boundaries[i].value], boundaries[i]);
  return roundings;
}

std::vector<std::optional<graph::RequantisationError>> errors_of(
    const std::vector<std::optional<ViewRounding>>& roundings) {
  std::vector<std::optional<graph::RequantisationError>> errors(roundings.size());
  for (size_t i = 0; i < roundings.size(); ++i)
    if (roundings[i]) errors[i] = roundings[i]->error();
  return errors;
}

// Rounds the tensor of a FLOAT32 input as its HW view does.
void pass_through(ViewRounding& rounding, std::vector<std::byte>& tensor) {
  for (size_t at = 0; at + sizeof(float) <= tensor.size(); at += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, tensor.data() + at, sizeof value);
    value = rounding.through_view(value);
    std::memcpy(tensor.data() + at, &value, sizeof value);
  }
}

}  // namespace

Result<HwViewCost> measure_hw_views(const CompiledModel& model, std::span<const Sample> samples) {
  const auto own = graph::boundary_quantisations(model.graph);
  auto inputs = view_roundings(model.inputs, own);
  auto outputs = view_roundings(model.outputs, own);
  std::vector<Sample> rounded(samples.begin(), samples.end());
  for (Sample& sample : rounded)
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i]) pass_through(*inputs[i], sample.inputs[i]);
  MILLRACE_ASSIGN_OR_RETURN(const OutputRun exact, run_outputs(model, samples));
  MILLRACE_ASSIGN_OR_RETURN(OutputRun views, run_outputs(model, rounded));
  for (auto& sample : views.values)
    for (size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i])
        for (float& value : sample[i]) value = outputs[i]->through_view(value);
  return HwViewCost{errors_of(inputs), errors_of(outputs),
                    compare_outputs(exact.values, views.values, is_classifier(model))};
}

}  // namespace millrace::quantise
