#include "serve/protocol/tensor_type.h"

#include <algorithm>
#include <array>
#include <utility>

namespace millrace::serve {
namespace {

constexpr std::array kNames = std::to_array<std::pair<DataType, std::string_view>>({
    {DataType::kBoolean, "BOOL"},
    {DataType::kInt8, "INT8"},
    {DataType::kUint8, "UINT8"},
    {DataType::kInt16, "INT16"},
    {DataType::kUint16, "UINT16"},
    {DataType::kBf16, "BF16"},
    {DataType::kFp16, "FP16"},
    {DataType::kInt32, "INT32"},
    {DataType::kUint32, "UINT32"},
    {DataType::kFloat32, "FP32"},
    {DataType::kInt64, "INT64"},
    {DataType::kUint64, "UINT64"},
    {DataType::kFloat64, "FP64"},
});

}  // namespace

std::string_view protocol_name(DataType type) {
  for (const auto& [own, name] : kNames)
    if (own == type) return name;
  return "UNKNOWN";
}

std::optional<DataType> type_of_protocol(std::string_view name) {
  for (const auto& [type, own] : kNames)
    if (own == name) return type;
  return std::nullopt;
}

bool has_json_form(DataType type) {
  return type != DataType::kFp16 && type != DataType::kBf16;
}

// The frames of an open output may have different sizes, so such models take one frame at a time.
bool counts_frames(const Model& model, const TensorInfo& info) {
  const auto& shape = info.cpu.shape;
  const bool any_open = std::ranges::any_of(
      model.outputs(), [](const TensorInfo& output) { return output.cpu.is_open; });
  return model.batch_size() > 1 && !any_open && !info.cpu.is_open && !shape.empty() &&
         shape.front() == 1;
}

std::vector<int64_t> metadata_shape(const Model& model, const TensorInfo& info) {
  std::vector<int64_t> shape;
  for (const uint32_t size : info.cpu.shape)
    shape.push_back(size == kOpenDimension ? -1 : int64_t{size});
  if (counts_frames(model, info)) shape.front() = -1;
  return shape;
}

}  // namespace millrace::serve
