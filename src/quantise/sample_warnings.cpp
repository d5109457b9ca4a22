#include "quantise/sample_warnings.h"

#include <fmt/format.h>

#include <algorithm>

#include "tensor/data_type.h"

namespace millrace::quantise {
namespace {

// Whether all elements, of `size` bytes each, are equal: the tensor equals itself shifted by one.
bool is_constant(const std::vector<std::byte>& tensor, size_t size) {
  return std::equal(tensor.begin() + static_cast<ptrdiff_t>(std::min(size, tensor.size())),
                    tensor.end(), tensor.begin());
}

bool is_constant_in_all(const tensor::TensorDesc& input, std::span<const Sample> samples,
                        size_t index) {
  return input.elements() > 1 && std::ranges::all_of(samples, [&](const Sample& sample) {
           return is_constant(sample.inputs[index], tensor::size_of(input.type));
         });
}

}  // namespace

std::vector<std::string> sample_warnings(const graph::CompiledModel& model,
                                         std::span<const Sample> samples) {
  std::vector<std::string> warnings;
  if (samples.size() == 1)
    warnings.emplace_back(
        "calibrated on one sample, which does not show the ranges of other inputs: use several "
        "dozen typical samples");
  else if (std::ranges::all_of(
               samples, [&](const Sample& sample) { return sample.inputs == samples[0].inputs; }))
    warnings.push_back(
        fmt::format("all {} samples are identical, which is no better than one", samples.size()));
  for (size_t i = 0; i < model.inputs.size(); ++i)
    if (is_constant_in_all(model.inputs[i].cpu, samples, i))
      warnings.push_back(
          fmt::format("all elements of input '{}' are equal in every sample: these are not typical "
                      "inputs of the model",
                      model.inputs[i].cpu.name));
  return warnings;
}

}  // namespace millrace::quantise
