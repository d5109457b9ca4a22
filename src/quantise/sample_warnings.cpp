#include "quantise/sample_warnings.h"

#include <fmt/format.h>

#include <algorithm>

#include "tensor/data_type.h"

namespace millrace::quantise {
namespace {

// Whether all elements, of `size` bytes each, are the same.
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
        "calibrated on one sample: ranges that others need are not known; give some dozens that "
        "are typical");
  else if (std::ranges::all_of(
               samples, [&](const Sample& sample) { return sample.inputs == samples[0].inputs; }))
    warnings.push_back(
        fmt::format("all {} samples are the same, which is as good as one", samples.size()));
  for (size_t i = 0; i < model.inputs.size(); ++i)
    if (is_constant_in_all(model.inputs[i].cpu, samples, i))
      warnings.push_back(
          fmt::format("all elements of input '{}' are the same in each sample: they are no data "
                      "that the model is made for",
                      model.inputs[i].cpu.name));
  return warnings;
}

}  // namespace millrace::quantise
