#include "vart/tensor_warnings.h"

#include <fmt/format.h>

#include <utility>

namespace millrace::vartml {
namespace {

std::string described(const ::vart::NpuTensorInfo& info) {
  return fmt::format("{} {}", to_string(info.data_type), to_string(info.memory_layout));
}

std::string line_about(const OddTensor& tensor) {
  const ::vart::NpuTensorInfo &expected = *tensor.expected, &given = *tensor.given;
  switch (tensor.oddity) {
    case Oddity::kName:
      return fmt::format(
          "a tensor \"{}\" is passed where \"{}\" is expected; tensors are taken in the order of "
          "get_tensors_info",
          given.name, expected.name);
    case Oddity::kDescription:
      return fmt::format(
          "a tensor described as {} is passed where \"{}\" is expected and taken as {}",
          described(given), expected.name, described(expected));
    case Oddity::kView:
      return fmt::format(
          "a tensor with tensor_type {}, which is neither CPU nor HW, is passed where "
          "\"{}\" is expected and taken as {}",
          static_cast<int>(given.tensor_type), expected.name, to_string(expected.tensor_type));
    case Oddity::kOverwritten:
      break;
  }
  return fmt::format("the input tensor \"{}\" is passed as output \"{}\" and overwritten",
                     given.name, expected.name);
}

}  // namespace

void TensorWarnings::warn(std::span<const OddTensor> tensors, const RunnerLog& log) {
  if (!log.enabled(LogLevel::kWarning)) return;
  const std::lock_guard lock(mutex_);
  for (const OddTensor& tensor : tensors)
    if (warned_.emplace(tensor.expected->name, tensor.oddity).second)
      log.write(LogLevel::kWarning, line_about(tensor) + " (said once)");
}

}  // namespace millrace::vartml
