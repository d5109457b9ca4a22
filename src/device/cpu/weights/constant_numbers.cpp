#include "device/cpu/weights/constant_numbers.h"

#include <cstddef>
#include <cstdint>

#include "device/cpu/weights/quantisation_run.h"
#include "tensor/conversion/kernels.h"
#include "tensor/conversion/strided.h"

namespace millrace::device::cpu {

using tensor::DataType;

namespace {

template <class T>
std::vector<float> dequantised_as(const graph::Value& constant) {
  const graph::Quantisation& quantisation = *constant.quantisation;
  const auto integers = constant.constant->as<T>();
  const size_t run = elements_per_run(constant);
  std::vector<float> floats(integers.size());
  for (size_t i = 0; i < floats.size(); ++i) {
    const size_t index = i / run % quantisation.scales.size();
    const int64_t steps = int64_t{integers[i]} - quantisation.zero_points[index];
    floats[i] = static_cast<float>(steps) * quantisation.scales[index];
  }
  return floats;
}

std::vector<float> dequantised(const graph::Value& constant) {
  switch (constant.type) {
    case DataType::kInt8:
      return dequantised_as<int8_t>(constant);
    case DataType::kUint8:
      return dequantised_as<uint8_t>(constant);
    default:
      return dequantised_as<int32_t>(constant);
  }
}

}  // namespace

std::vector<float> constant_numbers(const graph::Value& constant) {
  if (constant.type == DataType::kFloat32) {
    const auto elements = constant.constant->as<float>();
    return {elements.begin(), elements.end()};
  }
  if (constant.quantisation) return dequantised(constant);
  std::vector<float> floats(constant.elements());
  const std::byte* const halves = constant.constant->bytes.data();
  if (const auto widen = tensor::contiguous_kernel(constant.type, DataType::kFloat32))
    widen(halves, floats.data(), floats.size(), {});
  else
    tensor::strided_kernel(constant.type, DataType::kFloat32)(halves, 1, floats.data(), 1,
                                                              floats.size(), {});
  return floats;
}

}  // namespace millrace::device::cpu
