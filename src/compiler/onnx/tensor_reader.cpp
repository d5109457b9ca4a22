// Raw or external data becomes a constant without a copy if it is aligned and has a type that a
// graph holds. Otherwise elements are copied: from typed fields, from FP16 and BF16 widened to
// FLOAT32, from narrow types unpacked to bytes or FLOAT32, and from BOOLEAN normalised to 0 and 1.
#include "compiler/onnx/tensor_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "compiler/onnx/external_data.h"
#include "compiler/onnx/narrow_types.h"
#include "fallback/narrow_types.h"
#include "graph/shape.h"
#include "lowering/evaluate/constant_data.h"
#include "lowering/operators/element_types.h"
#include "tensor/half.h"

namespace millrace::compiler {
namespace {

using lowering::checked_product;
using lowering::element_type;
using lowering::ElementType;
using lowering::make_constant;
using lowering::MutableConstant;
using ::onnx::TensorProto;
using tensor::DataType;

static_assert(std::endian::native == std::endian::little, "model files are little-endian");

// The content of a tensor: dense elements of the type in the file. `keeper` owns the bytes.
struct RawData {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> keeper;
};

RawData take_raw(TensorProto& tensor) {
  auto keeper = std::make_shared<std::string>(std::move(*tensor.mutable_raw_data()));
  return {std::as_bytes(std::span<const char>(*keeper)), keeper};
}

// Copies a typed field. Protobuf stores small types in wider fields, so each element is narrowed to
// T.
template <class T, class Field>
RawData copy_field(const Field& field) {
  auto keeper = std::make_shared<std::vector<T>>();
  keeper->reserve(static_cast<size_t>(field.size()));
  for (const auto element : field) keeper->push_back(static_cast<T>(element));
  return {std::as_bytes(std::span<const T>(*keeper)), keeper};
}

RawData copy_typed(const TensorProto& tensor) {
  switch (tensor.data_type()) {
    case TensorProto::FLOAT:
      return copy_field<float>(tensor.float_data());
    case TensorProto::DOUBLE:
      return copy_field<double>(tensor.double_data());
    case TensorProto::INT64:
      return copy_field<int64_t>(tensor.int64_data());
    case TensorProto::UINT64:
      return copy_field<uint64_t>(tensor.uint64_data());
    case TensorProto::UINT32:
      return copy_field<uint32_t>(tensor.uint64_data());
    case TensorProto::INT32:
      return copy_field<int32_t>(tensor.int32_data());
    case TensorProto::INT16:
      return copy_field<int16_t>(tensor.int32_data());
    case TensorProto::UINT16:
    case TensorProto::FLOAT16:
    case TensorProto::BFLOAT16:
      return copy_field<uint16_t>(tensor.int32_data());
    default:
      return copy_field<uint8_t>(tensor.int32_data());  // the one-byte types
  }
}

Result<RawData> read_bytes(TensorProto& tensor, const std::filesystem::path& directory,
                           size_t bytes) {
  RawData data;
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    MILLRACE_ASSIGN_OR_RETURN(const ExternalData external,
                              read_external_data(tensor, directory, bytes));
    data = {external.bytes, external.owner};
  } else {
    data = tensor.has_raw_data() ? take_raw(tensor) : copy_typed(tensor);
  }
  if (data.bytes.size() != bytes) {
    return corrupt_data(fmt::format("holds {} bytes of data where its shape and type need {}",
                                    data.bytes.size(), bytes));
  }
  return data;
}

// Converts element by element with memcpy, since the bytes of a file need not be aligned.
template <class From, class Convert>
void widen(std::span<const std::byte> bytes, std::span<float> out, Convert convert) {
  for (size_t i = 0; i < out.size(); ++i) {
    From element;
    std::memcpy(&element, bytes.data() + i * sizeof(From), sizeof(From));
    out[i] = convert(element);
  }
}

void widen_to_float(int onnx_type, std::span<const std::byte> bytes, std::span<float> out) {
  switch (onnx_type) {
    case TensorProto::FLOAT16:
      return widen<uint16_t>(bytes, out, tensor::fp16_to_float);
    default:
      return widen<uint16_t>(bytes, out, tensor::bf16_to_float);
  }
}

bool is_aligned(std::span<const std::byte> bytes, size_t alignment) {
  return reinterpret_cast<uintptr_t>(bytes.data()) % alignment == 0;
}

void make_booleans(std::span<uint8_t> bytes) {
  for (uint8_t& byte : bytes) byte = byte != 0;
}

Result<graph::Value> make_value(int onnx_type, const ElementType& element, graph::Dims shape,
                                const RawData& data) {
  const bool as_stored = element.file_bytes == tensor::size_of(element.stored);
  if (as_stored && element.stored != DataType::kBoolean &&
      is_aligned(data.bytes, element.file_bytes)) {
    return graph::Value{
        {}, element.stored, std::move(shape), graph::Constant{data.bytes, data.keeper}};
  }
  MILLRACE_ASSIGN_OR_RETURN(MutableConstant copy, make_constant(element.stored, std::move(shape)));
  if (as_stored) {
    std::ranges::copy(data.bytes, copy.data);
    if (element.stored == DataType::kBoolean) make_booleans(copy.as<uint8_t>());
  } else {
    widen_to_float(onnx_type, data.bytes, copy.as<float>());
  }
  return std::move(copy.value);
}

// Unpacks the codes of a narrow type, of which the lowest bits of a byte are the first. T is float,
// or int8_t for both signed and unsigned bytes.
template <class T>
void unpack(std::span<const std::byte> packed, const fallback::NarrowType& type, std::span<T> to) {
  std::array<T, 256> values;
  for (size_t code = 0; code < values.size(); ++code)
    values[code] = static_cast<T>(value_of_code(type, static_cast<uint8_t>(code)));
  const auto bits = static_cast<size_t>(type.bits), per_byte = 8 / bits;
  const size_t mask = (size_t{1} << bits) - 1;
  for (size_t i = 0; i < to.size(); ++i)
    to[i] = values[std::to_integer<size_t>(packed[i / per_byte]) >> i % per_byte * bits & mask];
}

Result<graph::Value> read_narrow(TensorProto& tensor, const fallback::NarrowType& type,
                                 const std::filesystem::path& directory) {
  if (tensor.has_segment()) return unsupported("tensors in segments are not supported");
  graph::Dims shape(tensor.dims().begin(), tensor.dims().end());
  const auto elements = checked_product(shape);
  if (!elements)
    return corrupt_data(fmt::format("has the impossible shape {}", graph::to_string(shape)));
  const auto count = static_cast<size_t>(*elements), per_byte = static_cast<size_t>(8 / type.bits);
  const size_t bytes = count / per_byte + (count % per_byte != 0 ? 1 : 0);
  MILLRACE_ASSIGN_OR_RETURN(const RawData data, read_bytes(tensor, directory, bytes));
  MILLRACE_ASSIGN_OR_RETURN(MutableConstant copy, make_constant(type.held, std::move(shape)));
  if (type.is_floating())
    unpack(data.bytes, type, copy.as<float>());
  else
    unpack(data.bytes, type, copy.as<int8_t>());
  return std::move(copy.value);
}

Result<graph::Value> read(TensorProto& tensor, const std::filesystem::path& directory) {
  if (const auto* narrow = fallback::narrow_type(tensor.data_type()))
    return read_narrow(tensor, *narrow, directory);
  MILLRACE_ASSIGN_OR_RETURN(ElementsInFile elements, read_elements(std::move(tensor), directory));
  MILLRACE_ASSIGN_OR_RETURN(const ElementType element, element_type(elements.onnx_type));
  return make_value(elements.onnx_type, element, std::move(elements.shape),
                    {elements.bytes, std::move(elements.keeper)});
}

}  // namespace

Result<graph::Value> read_tensor(TensorProto&& tensor, const std::filesystem::path& directory) {
  const std::string name = tensor.name();
  Result<graph::Value> value = read(tensor, directory);
  if (!value.ok()) return value.status().with_context(fmt::format("tensor '{}'", name));
  value->name = name;
  return value;
}

Result<ElementsInFile> read_elements(TensorProto&& tensor, const std::filesystem::path& directory) {
  MILLRACE_ASSIGN_OR_RETURN(const ElementType element, element_type(tensor.data_type()));
  if (tensor.has_segment()) return unsupported("tensors in segments are not supported");
  graph::Dims shape(tensor.dims().begin(), tensor.dims().end());
  const auto elements = checked_product(shape);
  size_t bytes = 0;
  if (!elements || __builtin_mul_overflow(*elements, element.file_bytes, &bytes)) {
    return corrupt_data(fmt::format("has the impossible shape {}", graph::to_string(shape)));
  }
  MILLRACE_ASSIGN_OR_RETURN(RawData data, read_bytes(tensor, directory, bytes));
  return ElementsInFile{tensor.data_type(), std::move(shape), data.bytes, std::move(data.keeper)};
}

}  // namespace millrace::compiler
