#include "serve/protocol/infer_response.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <type_traits>

#include "serve/protocol/tensor_type.h"

namespace millrace::serve {
namespace {

using nlohmann::json;

// A float is written as the double of the same value, so that it is read back as the same float.
// JSON has no form for infinities and NaN, so these are written as null.
template <class T>
json list_of(std::span<const std::byte> bytes) {
  json::array_t list;
  list.reserve(bytes.size() / sizeof(T));
  for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    if constexpr (std::is_same_v<T, float>)
      list.emplace_back(static_cast<double>(value));
    else
      list.emplace_back(value);
  }
  return list;
}

json booleans(std::span<const std::byte> bytes) {
  json::array_t list;
  list.reserve(bytes.size());
  for (const std::byte byte : bytes) list.emplace_back(byte != std::byte{0});
  return list;
}

json data_of(const OutputTensor& output) {
  switch (output.type) {
    case DataType::kBoolean:
      return booleans(output.bytes);
    case DataType::kInt8:
      return list_of<int8_t>(output.bytes);
    case DataType::kUint8:
      return list_of<uint8_t>(output.bytes);
    case DataType::kInt16:
      return list_of<int16_t>(output.bytes);
    case DataType::kUint16:
      return list_of<uint16_t>(output.bytes);
    case DataType::kInt32:
      return list_of<int32_t>(output.bytes);
    case DataType::kUint32:
      return list_of<uint32_t>(output.bytes);
    case DataType::kInt64:
      return list_of<int64_t>(output.bytes);
    case DataType::kUint64:
      return list_of<uint64_t>(output.bytes);
    case DataType::kFloat32:
      return list_of<float>(output.bytes);
    case DataType::kFloat64:
      return list_of<double>(output.bytes);
    default:
      return json::array();
  }
}

json shape_of(const TensorShape& shape) {
  return json::array_t(shape.dims.begin(), shape.dims.begin() + shape.rank);
}

// One class, as the extension writes it: VALUE:INDEX, or VALUE:INDEX:LABEL.
std::string class_text(double value, size_t index, std::span<const std::string> labels) {
  if (index >= labels.size()) return fmt::format("{}:{}", value, index);
  return fmt::format("{}:{}:{}", value, index, labels[index]);
}

// The value by which an element of the data is ordered. Infinities and NaN are null there, and
// come last.
double rank_of(const json& element) {
  if (element.is_boolean()) return element.get<bool>() ? 1 : 0;
  const double value = element.get<double>();
  return std::isfinite(value) ? value : -std::numeric_limits<double>::infinity();
}

// The highest elements of each frame, which the first dimension counts if there are others.
json classes_of(const OutputTensor& output, std::span<const std::string> labels) {
  const json data = data_of(output);
  const size_t frames = output.shape.rank > 1 ? output.shape.dims[0] : 1;
  const size_t elements = frames == 0 ? 0 : data.size() / frames;
  const size_t classes = std::min<size_t>(output.classes, elements);
  json texts = json::array();
  std::vector<size_t> order(elements);
  for (size_t frame = 0; frame < frames; ++frame) {
    const auto value = [&](size_t i) { return rank_of(data[frame * elements + i]); };
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::partial_sort(order, order.begin() + static_cast<ptrdiff_t>(classes),
                              [&](size_t a, size_t b) { return value(a) > value(b); });
    for (size_t i = 0; i < classes; ++i)
      texts.push_back(class_text(value(order[i]), order[i], labels));
  }
  const json::array_t shape =
      output.shape.rank > 1 ? json::array_t{frames, classes} : json::array_t{classes};
  return {{"name", output.name}, {"datatype", "BYTES"}, {"shape", shape}, {"data", texts}};
}

json description(const OutputTensor& output, std::span<const std::string> labels) {
  if (output.classes > 0) return classes_of(output, labels);
  json described = {{"name", output.name},
                    {"datatype", protocol_name(output.type)},
                    {"shape", shape_of(output.shape)}};
  if (output.part != nullptr)
    described["parameters"] = {{"shared_memory_region", output.part->region->name()},
                               {"shared_memory_offset", output.part->offset},
                               {"shared_memory_byte_size", output.bytes.size()}};
  else if (output.binary)
    described["parameters"] = {{"binary_data_size", output.bytes.size()}};
  else
    described["data"] = data_of(output);
  return described;
}

}  // namespace

HttpResponse infer_response(std::string_view model, std::string_view version, std::string_view id,
                            std::span<const OutputTensor> outputs,
                            std::span<const std::string> labels) {
  json body = {{"model_name", model}, {"model_version", version}, {"outputs", json::array()}};
  if (!id.empty()) body["id"] = id;
  HttpResponse response;
  for (const OutputTensor& output : outputs) {
    body["outputs"].push_back(description(output, labels));
    if (output.part == nullptr && output.binary && !output.bytes.empty())
      response.raw.push_back(output.bytes);
  }
  response.text = body.dump(-1, ' ', false, json::error_handler_t::replace);
  if (response.raw.empty()) return response;
  response.content_type = "application/octet-stream";
  response.fields.emplace_back(kJsonLengthField, std::to_string(response.text.size()));
  return response;
}

size_t json_elements(std::span<const OutputTensor> outputs) {
  size_t elements = 0;
  for (const OutputTensor& output : outputs)
    if (!output.binary) elements += output.bytes.size() / std::max<size_t>(1, size_of(output.type));
  return elements;
}

}  // namespace millrace::serve
