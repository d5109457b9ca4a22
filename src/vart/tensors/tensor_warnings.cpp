#include "vart/tensors/tensor_warnings.h"

#include <fmt/format.h>

#include <utility>

namespace millrace::vartml {
namespace {

std::string described(const ::vart::NpuTensorInfo& info) {
  return fmt::format("{} {}", to_string(info.data_type), to_string(info.memory_layout));
}

std::string line_about(const TensorMismatch& mismatch) {
  const ::vart::NpuTensorInfo &expected = *mismatch.expected, &given = *mismatch.given;
  switch (mismatch.kind) {
    case Mismatch::kName:
      return fmt::format(
          "a tensor \"{}\" is passed where \"{}\" is expected; tensors must be in the order of "
          "get_tensors_info",
          given.name, expected.name);
    case Mismatch::kDescription:
      return fmt::format(
          "a tensor described as {} is passed where \"{}\" is expected and taken as {}",
          described(given), expected.name, described(expected));
    case Mismatch::kView:
      return fmt::format(
          "a tensor with tensor_type {}, which is neither CPU nor HW, is passed where "
          "\"{}\" is expected and taken as {}",
          static_cast<int>(given.tensor_type), expected.name, to_string(expected.tensor_type));
    case Mismatch::kOverwritten:
      break;
  }
  return fmt::format("the input tensor \"{}\" is passed as output \"{}\" and overwritten",
                     given.name, expected.name);
}

}  // namespace

void TensorWarnings::warn(std::span<const TensorMismatch> mismatches, const RunnerLog& log) {
  if (!log.enabled(LogLevel::kWarning)) return;
  const std::lock_guard lock(mutex_);
  for (const TensorMismatch& mismatch : mismatches)
    if (warned_.emplace(mismatch.expected->name, mismatch.kind).second)
      log.write(LogLevel::kWarning, line_about(mismatch) + " (logged once)");
}

}  // namespace millrace::vartml
