// The names of enumerators, the implementation of vart::to_string.
#include <array>
#include <cstddef>

#include "tensor/data_type.h"
#include "tensor/layout.h"
#include "vart/vart_npu_tensor.hpp"
#include "vart/vart_runner_factory.hpp"

namespace vart::npu_detail {
namespace {

constexpr std::string_view kUnknown = "UNKNOWN";

template <size_t count>
std::string_view pick(const std::array<std::string_view, count>& names, int value) noexcept {
  return value >= 0 && static_cast<size_t>(value) < count ? names[value] : kUnknown;
}

// The enumerations of the tensor layer have the same names and values as those of the API.
template <class Core, class Enum>
std::string_view core_name(Enum value) noexcept {
  const int number = static_cast<int>(value);
  return number < 0 || number > 255 ? kUnknown
                                    : millrace::tensor::to_string(static_cast<Core>(number));
}

}  // namespace

// The core also has the type FLOAT64, which the API does not.
std::string_view name_of(DataType value) noexcept {
  if (value > DataType::UINT64) return kUnknown;
  return core_name<millrace::tensor::DataType>(value);
}

std::string_view name_of(MemoryLayout value) noexcept {
  return core_name<millrace::tensor::Layout>(value);
}

std::string_view name_of(MemoryType value) noexcept {
  static constexpr std::array<std::string_view, 5> kNames = {
      "UNKNOWN", "XRT_BO", "DMA_FD", "USER_POINTER_CMA", "USER_POINTER_NON_CMA"};
  return pick(kNames, static_cast<int>(value));
}

std::string_view name_of(TensorDirection value) noexcept {
  static constexpr std::array<std::string_view, 2> kNames = {"INPUT", "OUTPUT"};
  return pick(kNames, static_cast<int>(value));
}

std::string_view name_of(TensorType value) noexcept {
  static constexpr std::array<std::string_view, 2> kNames = {"CPU", "HW"};
  return pick(kNames, static_cast<int>(value));
}

std::string_view name_of(RoundingMode value) noexcept {
  static constexpr std::array<std::string_view, 3> kNames = {"UNKNOWN", "ROUND_TO_NEAREST_EVEN",
                                                             "ROUND_TOWARD_ZERO"};
  return pick(kNames, static_cast<int>(value));
}

std::string_view name_of(StatusCode value) noexcept {
  static constexpr std::array<std::string_view, 10> kNames = {
      "SUCCESS",       "FAILURE",     "INVALID_INPUT",  "INVALID_OUTPUT",       "OUT_OF_MEMORY",
      "RUNTIME_ERROR", "JOB_PENDING", "INVALID_JOB_ID", "RESOURCE_UNAVAILABLE", "UNSUPPORTED"};
  return pick(kNames, static_cast<int>(value));
}

}  // namespace vart::npu_detail
