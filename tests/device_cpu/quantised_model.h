// Models of quantised values, for the tests of kernels on integers.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/run_model.h"

namespace millrace::device::cpu {

// The storage form of quantised values.
struct Form {
  tensor::DataType type = tensor::DataType::kUint8;
  float scale = 1 / 64.0f;
  int32_t zero_point = 0;
  graph::Quantisation quantisation() const { return {{scale}, {zero_point}, 0}; }
};

// A model between one Requantise from FP32 and one to FP32.
class QuantisedModel {
 public:
  graph::ValueId input(const graph::Dims& dims, const Form& form) {
    inputs_.push_back(Tensor::numbers(dims, static_cast<uint32_t>(inputs_.size()) + 1));
    return builder.quantised(graph::Requantise{}, {builder.input(dims)}, form.type,
                             form.quantisation());
  }
  graph::ValueId make(graph::Operator op, std::vector<graph::ValueId> inputs, const Form& form) {
    step_ = form.scale;
    return builder.quantised(std::move(op), std::move(inputs), form.type, form.quantisation());
  }
  // [M, ...], with scales along M.
  graph::ValueId weights(const graph::Dims& dims, tensor::DataType type = tensor::DataType::kInt8,
                         int32_t zero_point = 0) {
    graph::Quantisation quantisation;
    const auto channels = static_cast<size_t>(dims[0]);
    for (size_t i = 0; i < channels; ++i)
      quantisation.scales.push_back(static_cast<float>(i % 3 + 1) / 512);
    quantisation.zero_points.assign(channels, zero_point);
    std::vector<int8_t> elements;
    for (const float number : Tensor::numbers(dims, 77).data)
      elements.push_back(static_cast<int8_t>(static_cast<int>(number * 127) + zero_point));
    return builder.quantised_constant(dims, type, elements, quantisation);
  }
  graph::ValueId bias(int64_t channels) {
    return builder.constant(Tensor::numbers({channels}, 99));
  }

  // Runs it by integers and by numbers, and expects no conversions between its input and output.
  // `steps` is how far the two may be apart.
  void check(graph::ValueId result, float steps = 1);
  // The same, whatever is converted between; returns the program that may compute with integers, or
  // null after a failure.
  std::shared_ptr<const Program> check_numbers(graph::ValueId result, float steps = 1);

  ModelBuilder builder;

 private:
  std::vector<Tensor> inputs_;
  float step_ = 1;
};

inline constexpr Form kUnsigned{tensor::DataType::kUint8, 1 / 128.0f, 128};
inline constexpr Form kSigned{tensor::DataType::kInt8, 1 / 64.0f, 0};
inline constexpr Form kShifted{tensor::DataType::kInt8, 1 / 96.0f, -17};
inline constexpr Form kWide{tensor::DataType::kUint8, 1 / 32.0f, 113};

inline graph::Conv conv2d(int64_t pad, int64_t stride, int64_t group,
                          graph::Activation activation = {}) {
  return {{stride, stride}, {1, 1}, {pad, pad}, {pad, pad}, group, activation};
}

}  // namespace millrace::device::cpu
