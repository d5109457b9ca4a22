#include "serve/protocol/infer_request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>

#include "base/settings/duration.h"
#include "serve/protocol/json_request.h"
#include "serve/protocol/tensor_type.h"

namespace millrace::serve {
namespace {

using Microseconds = std::chrono::microseconds;
constexpr int64_t kMostMicroseconds = Microseconds(std::chrono::hours(24 * 365)).count();
constexpr uint64_t kMostElements = uint64_t{1} << 40;

// Parameters that would change what a request means, and are not offered.
constexpr std::array<std::string_view, 3> kSequence = {"sequence_id", "sequence_start",
                                                       "sequence_end"};
constexpr std::string_view kRegion = "shared_memory_region";
constexpr std::string_view kRegionOffset = "shared_memory_offset";
constexpr std::string_view kRegionBytes = "shared_memory_byte_size";
constexpr std::string_view kClassification = "classification";
constexpr int64_t kMostClasses = 10'000;

template <class T>
Result<const T*> parameter(const Parameters& parameters, std::string_view name, const char* what) {
  const auto found = parameters.find(name);
  if (found == parameters.end()) return nullptr;
  const T* const value = std::get_if<T>(&found->second);
  if (value == nullptr)
    return invalid_argument(fmt::format("the parameter \"{}\" is not {}", name, what));
  return value;
}

Status refuse_parameter(const Parameters& parameters, std::string_view name) {
  if (!parameters.contains(name)) return {};
  return invalid_argument(
      fmt::format("the parameter \"{}\" belongs to an extension that is not offered", name));
}

std::string text_of(std::span<const int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ","));
}

// The number of elements of a shape whose dimensions have been checked.
std::optional<uint64_t> elements_of(const TensorShape& shape) {
  uint64_t elements = 1;
  for (uint32_t i = 0; i < shape.rank; ++i)
    if (__builtin_mul_overflow(elements, uint64_t{shape.dims[i]}, &elements) ||
        elements > kMostElements)
      return std::nullopt;
  return elements;
}

// The largest number of elements that a request may state for an input; bounds the memory that its
// JSON takes.
uint64_t most_elements(const Model& model) {
  uint64_t most = 0;
  for (const TensorInfo& info : model.inputs()) {
    if (info.cpu.is_open) return kMostElements;
    most = std::max(most, uint64_t{info.cpu.elements} * model.batch_size());
  }
  return most;
}

template <class T>
bool convert_real(JsonElements::Kind kind, uint64_t bits, T& value) {
  switch (kind) {
    case JsonElements::Kind::kUnsigned:
      value = static_cast<T>(bits);
      return true;
    case JsonElements::Kind::kNegative:
      value = static_cast<T>(static_cast<int64_t>(bits));
      return true;
    case JsonElements::Kind::kReal:
      value = static_cast<T>(std::bit_cast<double>(bits));
      return true;
    case JsonElements::Kind::kBoolean:
      break;
  }
  return false;
}

template <class T>
bool convert_integer(JsonElements::Kind kind, uint64_t bits, T& value) {
  using Limits = std::numeric_limits<T>;
  if (kind == JsonElements::Kind::kUnsigned) {
    value = static_cast<T>(bits);
    return bits <= static_cast<uint64_t>(Limits::max());
  }
  if (kind != JsonElements::Kind::kNegative || std::is_unsigned_v<T>) return false;
  const auto negative = static_cast<int64_t>(bits);
  value = static_cast<T>(negative);
  return negative >= static_cast<int64_t>(Limits::min());
}

bool convert_boolean(JsonElements::Kind kind, uint64_t bits, uint8_t& value) {
  value = static_cast<uint8_t>(bits);
  return bits <= 1 &&
         (kind == JsonElements::Kind::kBoolean || kind == JsonElements::Kind::kUnsigned);
}

// Converts all elements, and returns how many could be.
template <class T, class Convert>
size_t convert_all(const JsonElements& elements, std::byte* to, Convert convert) {
  for (size_t i = 0; i < elements.size(); ++i) {
    T value{};
    if (!convert(elements.kind(i), elements.bits(i), value)) return i;
    std::memcpy(to + i * sizeof(T), &value, sizeof(T));
  }
  return elements.size();
}

size_t convert(const JsonElements& elements, DataType type, std::byte* to) {
  switch (type) {
#define MILLRACE_CASE(enumerator, T, function) \
  case DataType::enumerator:                   \
    return convert_all<T>(elements, to, function)
    MILLRACE_CASE(kBoolean, uint8_t, convert_boolean);
    MILLRACE_CASE(kInt8, int8_t, convert_integer<int8_t>);
    MILLRACE_CASE(kUint8, uint8_t, convert_integer<uint8_t>);
    MILLRACE_CASE(kInt16, int16_t, convert_integer<int16_t>);
    MILLRACE_CASE(kUint16, uint16_t, convert_integer<uint16_t>);
    MILLRACE_CASE(kInt32, int32_t, convert_integer<int32_t>);
    MILLRACE_CASE(kUint32, uint32_t, convert_integer<uint32_t>);
    MILLRACE_CASE(kInt64, int64_t, convert_integer<int64_t>);
    MILLRACE_CASE(kUint64, uint64_t, convert_integer<uint64_t>);
    MILLRACE_CASE(kFloat32, float, convert_real<float>);
    MILLRACE_CASE(kFloat64, double, convert_real<double>);
#undef MILLRACE_CASE
    default:
      return 0;
  }
}

// Reads one request into an InferRequest.
class RequestBinder {
 public:
  RequestBinder(HttpRequest request, const Model& model, const RegionMemory& shared)
      : http_(std::move(request)), model_(model), shared_(shared) {}

  Result<InferRequest> read() {
    MILLRACE_ASSIGN_OR_RETURN(bound_.deadline, deadline_of_field(http_));
    MILLRACE_RETURN_IF_ERROR(find_json());
    bound_.inputs.resize(model_.inputs().size());
    given_.resize(model_.inputs().size());
    MILLRACE_RETURN_IF_ERROR(json_.empty() && is_binary_ ? bind_body() : bind_json());
    bound_.body = std::move(http_.body);
    return std::move(bound_);
  }

 private:
  Status find_json();
  Status bind_body();
  Status bind_json();
  Status take_parameters(const Parameters& parameters);
  Status bind_input(JsonTensor& given);
  Status check_shape(const TensorInfo& info, std::span<const int64_t> stated, TensorShape& shape);
  Status check_frames(const TensorInfo& info, const TensorShape& shape);
  Result<std::optional<RegionPart>> part_of(const JsonTensor& tensor);
  Status bind_part(const TensorInfo& info, const JsonTensor& given, const RegionPart& part,
                   uint64_t bytes, InputTensor& input);
  Status bind_raw(const TensorInfo& info, const JsonTensor& given, uint64_t bytes,
                  InputTensor& input);
  Status bind_elements(const TensorInfo& info, const JsonTensor& given, uint64_t elements,
                       InputTensor& input);
  Status set_raw(const TensorInfo& info, std::span<const std::byte> raw, InputTensor& input);
  Status want_outputs(const std::vector<JsonTensor>& outputs);
  Status want(size_t index, bool binary);
  Status want_classes(const Parameters& parameters, WantedOutput& output);

  HttpRequest http_;
  const Model& model_;
  const RegionMemory& shared_;
  InferRequest bound_;
  std::string_view json_;
  std::span<const std::byte> raw_;  // of the body, behind the JSON; what has not been taken yet
  bool is_binary_ = false;          // whether the request says where its JSON ends
  bool binary_outputs_ = false;     // unless an output says otherwise
  std::optional<uint32_t> frames_;
  std::vector<bool> given_;
};

Status RequestBinder::find_json() {
  json_ = http_.text();
  const auto length = http_.field(kJsonLengthField);
  if (!length) return {};
  size_t bytes = 0;
  const auto [end, bad] = std::from_chars(length->data(), length->data() + length->size(), bytes);
  if (bad != std::errc() || end != length->data() + length->size() || bytes > json_.size())
    return invalid_argument(fmt::format("{} is \"{}\", and the body has {} bytes", kJsonLengthField,
                                        *length, json_.size()));
  is_binary_ = true;
  json_ = json_.substr(0, bytes);
  raw_ = http_.body.bytes().subspan(bytes);
  return {};
}

// The body is the only input of the model, without any JSON.
Status RequestBinder::bind_body() {
  if (model_.inputs().size() != 1)
    return invalid_argument(
        fmt::format("a body without JSON is the input of a model that has one; this one has {}",
                    model_.inputs().size()));
  const TensorInfo& info = model_.inputs()[0];
  if (info.cpu.is_open)
    return invalid_argument(fmt::format(
        "input \"{}\" has open dimensions, so JSON before the bytes must state its shape",
        info.name));
  std::vector<int64_t> shape(info.cpu.shape.begin(), info.cpu.shape.end());
  if (counts_frames(model_, info) && info.cpu.bytes > 0 && raw_.size() % info.cpu.bytes == 0)
    shape.front() = static_cast<int64_t>(raw_.size() / info.cpu.bytes);
  InputTensor& input = bound_.inputs[0];
  MILLRACE_RETURN_IF_ERROR(check_shape(info, shape, input.shape));
  if (raw_.size() != info.cpu.bytes * bound_.frames)
    return invalid_argument(fmt::format("input \"{}\" takes {} bytes, the body has {}", info.name,
                                        info.cpu.bytes, raw_.size()));
  MILLRACE_RETURN_IF_ERROR(set_raw(info, raw_, input));
  return want_outputs({});
}

Status RequestBinder::bind_json() {
  const size_t tensors = std::max(model_.inputs().size(), model_.outputs().size());
  MILLRACE_ASSIGN_OR_RETURN(JsonInferRequest given,
                            read_json_request(json_, {most_elements(model_), tensors}));
  bound_.id = std::move(given.id);
  MILLRACE_RETURN_IF_ERROR(take_parameters(given.parameters));
  for (JsonTensor& input : given.inputs) MILLRACE_RETURN_IF_ERROR(bind_input(input));
  for (size_t i = 0; i < given_.size(); ++i)
    if (!given_[i])
      return invalid_argument(
          fmt::format("input \"{}\" of the model is missing", model_.inputs()[i].name));
  if (!raw_.empty())
    return invalid_argument(
        fmt::format("the body has {} bytes more than its tensors state", raw_.size()));
  return want_outputs(given.outputs);
}

Status RequestBinder::take_parameters(const Parameters& parameters) {
  for (const std::string_view name : kSequence)
    MILLRACE_RETURN_IF_ERROR(refuse_parameter(parameters, name));
  MILLRACE_ASSIGN_OR_RETURN(const bool* const binary,
                            parameter<bool>(parameters, "binary_data_output", "true or false"));
  binary_outputs_ = binary != nullptr && *binary;
  MILLRACE_ASSIGN_OR_RETURN(const int64_t* const timeout,
                            parameter<int64_t>(parameters, "timeout", "a number of microseconds"));
  if (timeout == nullptr || *timeout == 0) return {};
  if (*timeout < 0) return invalid_argument("the parameter \"timeout\" is negative");
  const Microseconds time(std::min(*timeout, kMostMicroseconds));
  bound_.deadline = std::min(bound_.deadline, http_.arrival + time);
  return {};
}

Status RequestBinder::bind_input(JsonTensor& given) {
  const auto infos = model_.inputs();
  const auto found = std::ranges::find(infos, given.name, &TensorInfo::name);
  if (found == infos.end())
    return invalid_argument(fmt::format("the model has no input \"{}\"", given.name));
  const size_t index = static_cast<size_t>(found - infos.begin());
  if (given_[index])
    return invalid_argument(fmt::format("input \"{}\" is given twice", given.name));
  given_[index] = true;
  if (type_of_protocol(given.datatype) != found->cpu.type)
    return invalid_argument(fmt::format("input \"{}\" has the datatype {}, not \"{}\"", given.name,
                                        protocol_name(found->cpu.type), given.datatype));
  if (!given.has_shape)
    return invalid_argument(fmt::format("input \"{}\" has no shape", given.name));
  MILLRACE_ASSIGN_OR_RETURN(const std::optional<RegionPart> part, part_of(given));
  InputTensor& input = bound_.inputs[index];
  MILLRACE_RETURN_IF_ERROR(check_shape(*found, given.shape, input.shape));
  const auto elements = elements_of(input.shape);
  if (!elements)
    return invalid_argument(fmt::format("input \"{}\" has the shape {}, which is too large",
                                        given.name, text_of(given.shape)));
  if (part) return bind_part(*found, given, *part, *elements * size_of(found->cpu.type), input);
  if (given.parameters.contains("binary_data_size"))
    return bind_raw(*found, given, *elements * size_of(found->cpu.type), input);
  return bind_elements(*found, given, *elements, input);
}

Status RequestBinder::check_shape(const TensorInfo& info, std::span<const int64_t> stated,
                                  TensorShape& shape) {
  const auto& own = info.cpu.shape;
  const bool any_rank = info.cpu.is_open && own.empty();
  bool fits = any_rank || stated.size() == own.size();
  const bool frames = counts_frames(model_, info);
  for (size_t i = 0; i < stated.size() && fits; ++i) {
    fits = stated[i] >= 0 && stated[i] < int64_t{kOpenDimension};
    if (!fits) break;
    shape.dims[i] = static_cast<uint32_t>(stated[i]);
    if (any_rank || own[i] == kOpenDimension) continue;
    fits = i == 0 && frames ? stated[0] >= 1 && stated[0] <= int64_t{model_.batch_size()}
                            : shape.dims[i] == own[i];
  }
  if (!fits)
    return invalid_argument(fmt::format(
        "input \"{}\" takes the shape {}{}, not {}", info.name,
        text_of(metadata_shape(model_, info)),
        frames ? fmt::format(" of up to {} frames", model_.batch_size()) : "", text_of(stated)));
  shape.rank = static_cast<uint32_t>(stated.size());
  return check_frames(info, shape);
}

Status RequestBinder::check_frames(const TensorInfo& info, const TensorShape& shape) {
  const uint32_t frames = counts_frames(model_, info) ? shape.dims[0] : 1;
  if (frames_ && *frames_ != frames)
    return invalid_argument(
        fmt::format("input \"{}\" has {} frames, and others have {}", info.name, frames, *frames_));
  frames_ = bound_.frames = frames;
  return {};
}

// The part of shared memory that holds a tensor, if its parameters name one.
Result<std::optional<RegionPart>> RequestBinder::part_of(const JsonTensor& tensor) {
  MILLRACE_ASSIGN_OR_RETURN(const std::string* const name,
                            parameter<std::string>(tensor.parameters, kRegion, "a name"));
  if (name == nullptr) return std::optional<RegionPart>();
  if (shared_.regions == nullptr) return refuse_parameter(tensor.parameters, kRegion);
  MILLRACE_ASSIGN_OR_RETURN(
      const int64_t* const bytes,
      parameter<int64_t>(tensor.parameters, kRegionBytes, "a number of bytes"));
  MILLRACE_ASSIGN_OR_RETURN(
      const int64_t* const offset,
      parameter<int64_t>(tensor.parameters, kRegionOffset, "a number of bytes"));
  if (bytes == nullptr || *bytes < 0 || (offset != nullptr && *offset < 0))
    return invalid_argument(
        fmt::format("the tensor \"{}\" needs {} of its part of the region, and a {} that is not "
                    "negative",
                    tensor.name, kRegionBytes, kRegionOffset));
  auto region = shared_.regions->find(*name);
  if (!region)
    return invalid_argument(fmt::format("there is no shared memory region \"{}\"", *name));
  return std::optional(RegionPart{std::move(region),
                                  offset == nullptr ? 0 : static_cast<uint64_t>(*offset),
                                  static_cast<uint64_t>(*bytes)});
}

// The bytes are copied before they are looked at, since the client may change them at any time.
Status RequestBinder::bind_part(const TensorInfo& info, const JsonTensor& given,
                                const RegionPart& part, uint64_t bytes, InputTensor& input) {
  if (given.has_data || given.parameters.contains("binary_data_size"))
    return invalid_argument(
        fmt::format("input \"{}\" is in shared memory, and has data", info.name));
  if (part.bytes != bytes)
    return invalid_argument(fmt::format("input \"{}\" of the shape {} has {} bytes, not {}",
                                        info.name, text_of(given.shape), bytes, part.bytes));
  if (bytes > shared_.most_bytes)
    return invalid_argument(
        fmt::format("input \"{}\" has more than {} bytes", info.name, shared_.most_bytes));
  if (!shared_.take_memory(bytes) || !MemoryBlock::allocate(bytes, 0, input.own))
    return {StatusCode::kOutOfMemory, "there is not enough memory for the input"};
  MILLRACE_RETURN_IF_ERROR(part.region->read(part.offset, input.own.bytes()));
  return set_raw(info, input.own.bytes(), input);
}

Status RequestBinder::bind_raw(const TensorInfo& info, const JsonTensor& given, uint64_t bytes,
                               InputTensor& input) {
  if (given.has_data)
    return invalid_argument(
        fmt::format("input \"{}\" has both data and a binary_data_size", info.name));
  MILLRACE_ASSIGN_OR_RETURN(
      const int64_t* const size,
      parameter<int64_t>(given.parameters, "binary_data_size", "a number of bytes"));
  if (*size < 0 || static_cast<uint64_t>(*size) != bytes)
    return invalid_argument(fmt::format("input \"{}\" of the shape {} has {} bytes, not {}",
                                        info.name, text_of(given.shape), bytes, *size));
  if (!is_binary_)
    return invalid_argument(
        fmt::format("input \"{}\" is raw, and the request has no {}", info.name, kJsonLengthField));
  if (bytes > raw_.size())
    return invalid_argument(fmt::format("input \"{}\" has {} bytes, and the body only {} more",
                                        info.name, bytes, raw_.size()));
  const auto own = raw_.first(bytes);
  raw_ = raw_.subspan(bytes);
  return set_raw(info, own, input);
}

// Uses the bytes where they are, unless they are not aligned for their type.
Status RequestBinder::set_raw(const TensorInfo& info, std::span<const std::byte> raw,
                              InputTensor& input) {
  const auto is_one = [](std::byte byte) { return byte <= std::byte{1}; };
  if (info.cpu.type == DataType::kBoolean && !std::ranges::all_of(raw, is_one))
    return invalid_argument(fmt::format("input \"{}\" has a BOOL that is not 0 or 1", info.name));
  input.bytes = raw;
  if (reinterpret_cast<uintptr_t>(raw.data()) % size_of(info.cpu.type) == 0) return {};
  if (!MemoryBlock::allocate(raw.size(), 0, input.own))
    return {StatusCode::kOutOfMemory, "there is not enough memory for the input"};
  std::memcpy(input.own.data(), raw.data(), raw.size());
  input.bytes = input.own.bytes();
  bound_.copied_bytes += raw.size();
  return {};
}

Status RequestBinder::bind_elements(const TensorInfo& info, const JsonTensor& given,
                                    uint64_t elements, InputTensor& input) {
  if (!given.has_data) return invalid_argument(fmt::format("input \"{}\" has no data", info.name));
  if (!has_json_form(info.cpu.type))
    return invalid_argument(fmt::format("input \"{}\" is {}, which is passed as raw bytes only",
                                        info.name, protocol_name(info.cpu.type)));
  if (given.data.size() != elements)
    return invalid_argument(fmt::format("input \"{}\" of the shape {} has {} elements, not {}",
                                        info.name, text_of(given.shape), elements,
                                        given.data.size()));
  const Nesting& nesting = given.nesting;
  if (nesting.ragged || (nesting.lengths.size() > 1 && nesting.lengths != given.shape))
    return invalid_argument(fmt::format("the data of input \"{}\" are not nested as its shape {}",
                                        info.name, text_of(given.shape)));
  if (!MemoryBlock::allocate(elements * size_of(info.cpu.type), 0, input.own))
    return {StatusCode::kOutOfMemory, "there is not enough memory for the input"};
  const size_t converted = convert(given.data, info.cpu.type, input.own.data());
  if (converted != elements)
    return invalid_argument(fmt::format("element {} of input \"{}\" is no {}", converted, info.name,
                                        protocol_name(info.cpu.type)));
  input.bytes = input.own.bytes();
  return {};
}

// Without a list, all outputs are wanted.
Status RequestBinder::want_outputs(const std::vector<JsonTensor>& outputs) {
  const auto infos = model_.outputs();
  if (outputs.empty())
    for (size_t i = 0; i < infos.size(); ++i) MILLRACE_RETURN_IF_ERROR(want(i, binary_outputs_));
  for (const JsonTensor& output : outputs) {
    const auto found = std::ranges::find(infos, output.name, &TensorInfo::name);
    if (found == infos.end())
      return invalid_argument(fmt::format("the model has no output \"{}\"", output.name));
    MILLRACE_ASSIGN_OR_RETURN(std::optional<RegionPart> part, part_of(output));
    MILLRACE_ASSIGN_OR_RETURN(const bool* const binary,
                              parameter<bool>(output.parameters, "binary_data", "true or false"));
    MILLRACE_RETURN_IF_ERROR(want(static_cast<size_t>(found - infos.begin()),
                                  part || (binary != nullptr ? *binary : binary_outputs_)));
    bound_.outputs.back().part = std::move(part);
    MILLRACE_RETURN_IF_ERROR(want_classes(output.parameters, bound_.outputs.back()));
  }
  return {};
}

// Classes are texts, so they are not raw, whatever holds for the other outputs.
Status RequestBinder::want_classes(const Parameters& parameters, WantedOutput& output) {
  MILLRACE_ASSIGN_OR_RETURN(const int64_t* const classes,
                            parameter<int64_t>(parameters, kClassification, "a number of classes"));
  if (classes == nullptr) return {};
  if (*classes < 1 || *classes > kMostClasses)
    return invalid_argument(fmt::format("the parameter \"{}\" is {}, not 1 to {}", kClassification,
                                        *classes, kMostClasses));
  if (output.part)
    return invalid_argument("classes are texts, which are not written to shared memory");
  if (!has_json_form(model_.outputs()[output.index].cpu.type))
    return invalid_argument(fmt::format("output \"{}\" has a type without classes",
                                        model_.outputs()[output.index].name));
  output.classes = static_cast<uint32_t>(*classes);
  output.binary = false;
  return {};
}

Status RequestBinder::want(size_t index, bool binary) {
  const TensorInfo& info = model_.outputs()[index];
  const auto same = [&](const WantedOutput& other) { return other.index == index; };
  if (std::ranges::any_of(bound_.outputs, same))
    return invalid_argument(fmt::format("output \"{}\" is named twice", info.name));
  if (!binary && !has_json_form(info.cpu.type))
    return invalid_argument(
        fmt::format("output \"{}\" is {}, which is passed as raw bytes only: set \"binary_data\"",
                    info.name, protocol_name(info.cpu.type)));
  bound_.outputs.push_back({.index = index, .binary = binary});
  return {};
}

}  // namespace

Result<InferRequest> read_infer_request(HttpRequest request, const Model& model,
                                        const RegionMemory& shared) {
  return RequestBinder(std::move(request), model, shared).read();
}

Result<Deadline> deadline_of_field(const HttpRequest& request) {
  const auto text = request.field("X-Request-Timeout");
  if (!text) return kNoDeadline;
  double seconds = 0;
  const auto [end, bad] = std::from_chars(text->data(), text->data() + text->size(), seconds);
  if (bad == std::errc() && end == text->data() + text->size() && seconds > 0) {
    const double most = 1e-6 * static_cast<double>(kMostMicroseconds);
    const auto time = std::chrono::duration<double>(std::min(seconds, most));
    return request.arrival + std::chrono::duration_cast<std::chrono::nanoseconds>(time);
  }
  std::chrono::nanoseconds time{};
  const std::string problem = read_duration(*text, time);
  if (!problem.empty())
    return invalid_argument(fmt::format("X-Request-Timeout is \"{}\", which {}", *text, problem));
  return request.arrival + time;
}

}  // namespace millrace::serve
