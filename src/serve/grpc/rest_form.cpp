#include "serve/grpc/rest_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <chrono>
#include <cstring>
#include <new>
#include <nlohmann/json.hpp>
#include <vector>

#include "millrace/tensor.hpp"
#include "serve/grpc/typed_contents.h"
#include "serve/protocol/tensor_type.h"

namespace millrace::serve {
namespace {

using nlohmann::json;
using Parameters = google::protobuf::Map<std::string, inference::InferParameter>;
using InputTensorMessage = inference::ModelInferRequest::InferInputTensor;

constexpr std::string_view kBytes = "BYTES";
constexpr std::string_view kBinaryOutputs = "binary_data_output";
constexpr const char* kRegion = "shared_memory_region";
// Longer deadlines are none in practice, and the handler reads none that is longer.
constexpr std::chrono::hours kLongest{24 * 364};

// The most inputs, outputs, and parameters of a request, those of its tensors among them.
constexpr int kMostTensors = 1024;
constexpr size_t kMostParameters = 1024;

bool is_plain(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9');
}

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char letter : text)
    encoded += is_plain(letter) ? std::string(1, letter)
                                : fmt::format("%{:02X}", static_cast<unsigned char>(letter));
  return encoded;
}

Status check_text(std::string_view what, std::string_view text) {
  if (text.size() <= kLongestName) return {};
  return invalid_argument(
      fmt::format("{} has {} bytes, and at most {} are taken", what, text.size(), kLongestName));
}

// Adds the number of parameters to `total`, which is that of the request.
Status check_parameters(const Parameters& parameters, size_t& total) {
  total += parameters.size();
  if (total > kMostParameters)
    return invalid_argument(
        fmt::format("the request has more than {} parameters", kMostParameters));
  for (const auto& [name, parameter] : parameters) {
    MILLRACE_RETURN_IF_ERROR(check_text("the name of a parameter", name));
    MILLRACE_RETURN_IF_ERROR(check_text("a parameter", parameter.string_param()));
  }
  return {};
}

Status check_input(const InputTensorMessage& input) {
  MILLRACE_RETURN_IF_ERROR(check_text("the name of an input", input.name()));
  MILLRACE_RETURN_IF_ERROR(check_text("the datatype of an input", input.datatype()));
  constexpr int kMostSizes = TensorShape::kMaxRank;
  if (input.shape_size() <= kMostSizes) return {};
  return invalid_argument(fmt::format("input \"{}\" has {} dimensions, and at most {} are taken",
                                      input.name(), input.shape_size(), kMostSizes));
}

json value_of(const inference::InferParameter& parameter) {
  switch (parameter.parameter_choice_case()) {
    case inference::InferParameter::kBoolParam:
      return parameter.bool_param();
    case inference::InferParameter::kInt64Param:
      return parameter.int64_param();
    case inference::InferParameter::kStringParam:
      return parameter.string_param();
    case inference::InferParameter::kDoubleParam:
      return parameter.double_param();
    case inference::InferParameter::kUint64Param:
      return parameter.uint64_param();
    case inference::InferParameter::PARAMETER_CHOICE_NOT_SET:
      break;
  }
  return nullptr;
}

json values_of(const Parameters& parameters) {
  json values = json::object();
  for (const auto& [name, parameter] : parameters) values[name] = value_of(parameter);
  return values;
}

// One input: where its bytes come from, and how many there are.
struct Source {
  DataType type = DataType::kUnknown;
  bool is_shared = false;            // they are in shared memory
  const std::string* raw = nullptr;  // null: typed contents
  size_t bytes = 0;
};

bool is_shared(const InputTensorMessage& input) {
  return input.parameters().contains(kRegion);
}

// `raw` is the number of the next raw input, which is counted on if this input is one.
Result<Source> source_of(const inference::ModelInferRequest& request, int i, int& raw) {
  const InputTensorMessage& input = request.inputs(i);
  const auto type = type_of_protocol(input.datatype());
  if (!type)
    return invalid_argument(
        fmt::format("input \"{}\" has the datatype \"{}\", which no model takes", input.name(),
                    input.datatype()));
  if (is_shared(input)) return Source{.type = *type, .is_shared = true};
  if (request.raw_input_contents_size() > 0) {
    if (input.has_contents())
      return invalid_argument(fmt::format(
          "input \"{}\" has contents, and the request has raw_input_contents", input.name()));
    const std::string& bytes = request.raw_input_contents(raw++);
    return Source{.type = *type, .raw = &bytes, .bytes = bytes.size()};
  }
  const Result<size_t> elements = count_elements(input.contents(), *type);
  if (!elements.ok())
    return invalid_argument(
        fmt::format("input \"{}\" {}", input.name(), elements.status().message()));
  return Source{.type = *type, .bytes = *elements * size_of(*type)};
}

Result<std::vector<Source>> sources_of(const inference::ModelInferRequest& request) {
  const int raw = request.raw_input_contents_size();
  const auto own = std::ranges::count_if(
      request.inputs(), [](const InputTensorMessage& input) { return !is_shared(input); });
  if (raw > 0 && raw != own)
    return invalid_argument(
        fmt::format("the request has {} inputs and {} raw_input_contents", own, raw));
  std::vector<Source> sources;
  int next_raw = 0;
  for (int i = 0; i < request.inputs_size(); ++i) {
    MILLRACE_ASSIGN_OR_RETURN(const Source source, source_of(request, i, next_raw));
    sources.push_back(source);
  }
  return sources;
}

// All outputs are asked for as raw bytes, whatever the client takes: the answer is converted.
std::string header_of(const inference::ModelInferRequest& request,
                      std::span<const Source> sources) {
  json header = {{"inputs", json::array()}, {"parameters", values_of(request.parameters())}};
  header["parameters"][kBinaryOutputs] = true;
  for (int i = 0; i < request.inputs_size(); ++i) {
    const InputTensorMessage& input = request.inputs(i);
    json parameters = values_of(input.parameters());
    const Source& source = sources[static_cast<size_t>(i)];
    if (!source.is_shared) parameters["binary_data_size"] = source.bytes;
    header["inputs"].push_back(
        {{"name", input.name()},
         {"datatype", input.datatype()},
         {"shape", json::array_t(input.shape().begin(), input.shape().end())},
         {"parameters", std::move(parameters)}});
  }
  for (const auto& output : request.outputs()) {
    json parameters = values_of(output.parameters());
    parameters["binary_data"] = true;
    header["outputs"].push_back({{"name", output.name()}, {"parameters", std::move(parameters)}});
  }
  return header.dump(-1, ' ', false, json::error_handler_t::replace);
}

Status write_tensors(const inference::ModelInferRequest& request, std::span<const Source> sources,
                     std::byte* to) {
  for (size_t i = 0; i < sources.size(); ++i) {
    const InputTensorMessage& input = request.inputs(static_cast<int>(i));
    if (sources[i].is_shared) continue;
    if (sources[i].raw != nullptr) {
      std::memcpy(to, sources[i].raw->data(), sources[i].bytes);
    } else if (const Status status = write_elements(input.contents(), sources[i].type, to);
               !status.ok()) {
      return invalid_argument(fmt::format("input \"{}\" {}", input.name(), status.message()));
    }
    to += sources[i].bytes;
  }
  return {};
}

bool is_picture_request(const inference::ModelInferRequest& request) {
  return std::ranges::any_of(request.inputs(),
                             [](const auto& input) { return input.datatype() == kBytes; });
}

// Raw elements of BYTES follow their lengths, which are four bytes, the lowest first.
uint32_t length_at(std::string_view raw) {
  uint32_t length = 0;
  for (size_t i = 0; i < 4; ++i) length |= uint32_t{static_cast<unsigned char>(raw[i])} << (8 * i);
  return length;
}

void add_raw_element(std::string_view element, std::string& raw) {
  for (size_t i = 0; i < 4; ++i) raw += static_cast<char>(element.size() >> (8 * i) & 0xFF);
  raw += element;
}

Result<std::string_view> only_element(const inference::ModelInferRequest& request) {
  const Status wrong = invalid_argument(
      "an input of BYTES is a picture: the only input, with one element, for a model that takes "
      "pictures");
  if (request.inputs_size() != 1) return wrong;
  if (request.raw_input_contents_size() == 0) {
    const auto& contents = request.inputs(0).contents();
    if (contents.bytes_contents_size() != 1) return wrong;
    return std::string_view(contents.bytes_contents(0));
  }
  if (request.raw_input_contents_size() != 1) return wrong;
  const std::string_view raw = request.raw_input_contents(0);
  if (raw.size() < 4 || length_at(raw) != raw.size() - 4) return wrong;
  return raw.substr(4);
}

Status allocate_body(size_t bytes, size_t json_bytes, const std::function<bool(uint64_t)>& take,
                     RestBody& body) {
  if (!take(bytes) || !MemoryBlock::allocate(bytes, json_bytes, body.bytes))
    return {StatusCode::kOutOfMemory, "there is not enough memory for the tensors of the request"};
  body.json_bytes = json_bytes;
  return {};
}

Result<RestBody> picture_body(const inference::ModelInferRequest& request,
                              const std::function<bool(uint64_t)>& take) {
  if (!request.outputs().empty() || !request.parameters().empty())
    return invalid_argument(
        "the request of a picture has neither outputs nor parameters: the answer has the five "
        "highest classes");
  MILLRACE_ASSIGN_OR_RETURN(const std::string_view picture, only_element(request));
  RestBody body;
  body.is_picture = true;
  MILLRACE_RETURN_IF_ERROR(allocate_body(picture.size(), 0, take, body));
  std::memcpy(body.bytes.data(), picture.data(), picture.size());
  return body;
}

// The part of shared memory that holds an output.
void add_part(const json& parameters, inference::ModelInferResponse::InferOutputTensor& output) {
  auto& own = *output.mutable_parameters();
  for (const auto& [name, value] : parameters.items())
    if (value.is_string())
      own[name].set_string_param(value.get<std::string>());
    else
      own[name].set_int64_param(value.get<int64_t>());
}

// One output of an answer, of which `raw` are the raw parts that no output has taken yet.
void read_output(const json& described, std::span<const std::span<const std::byte>>& raw,
                 bool as_raw, inference::ModelInferResponse& response) {
  auto& output = *response.add_outputs();
  output.set_name(described.value("name", ""));
  output.set_datatype(described.value("datatype", ""));
  for (const json& size : described.value("shape", json::array()))
    output.add_shape(size.get<int64_t>());
  if (const auto data = described.find("data"); data != described.end()) {
    std::string joined;
    for (const json& element : *data) {
      const auto& text = element.get_ref<const std::string&>();
      if (as_raw)
        add_raw_element(text, joined);
      else
        output.mutable_contents()->add_bytes_contents(text);
    }
    if (as_raw) response.add_raw_output_contents(std::move(joined));
    return;
  }
  const json& parameters = described.at("parameters");
  if (parameters.contains(kRegion)) {
    add_part(parameters, output);
    if (as_raw) response.add_raw_output_contents();
    return;
  }
  std::span<const std::byte> bytes;
  if (parameters.at("binary_data_size").get<uint64_t>() > 0) {
    bytes = raw.front();
    raw = raw.subspan(1);
  }
  if (as_raw)
    response.add_raw_output_contents(bytes.data(), bytes.size());
  else
    add_elements(bytes, type_of_protocol(output.datatype()).value_or(DataType::kUnknown),
                 *output.mutable_contents());
}

// An output of 16-bit floating point has no field, and the protocol has all outputs raw or none.
bool has_fields(const json& outputs) {
  return std::ranges::none_of(outputs, [](const json& output) {
    const auto type = type_of_protocol(output.value("datatype", ""));
    return type && !has_json_form(*type);
  });
}

}  // namespace

std::string model_path(std::string_view name, std::string_view version) {
  std::string path = "/v2/models/" + percent_encoded(name);
  if (!version.empty()) path += "/versions/" + percent_encoded(version);
  return path;
}

std::string repository_path(std::string_view name) {
  return "/v2/repository/models/" + percent_encoded(name);
}

std::string region_path(std::string_view name) {
  const std::string path = "/v2/systemsharedmemory";
  return name.empty() ? path : path + "/region/" + percent_encoded(name);
}

HttpRequest rest_head(std::string path, const CallHead& call) {
  HttpRequest head;
  head.origin = {.remote = call.remote, .grpc_call = call.name};
  head.arrival = std::chrono::steady_clock::now();
  head.method = "GET";
  head.target = std::move(path);
  if (!call.authorization.empty()) head.fields.emplace_back("Authorization", call.authorization);
  if (!call.traceparent.empty()) head.fields.emplace_back("traceparent", call.traceparent);
  return head;
}

HttpRequest rest_post(std::string path, std::string_view json, const CallHead& call) {
  HttpRequest request = rest_head(std::move(path), call);
  request.method = "POST";
  request.fields.emplace_back("Content-Length", std::to_string(json.size()));
  if (!MemoryBlock::allocate(json.size(), 0, request.body)) throw std::bad_alloc();
  std::memcpy(request.body.data(), json.data(), json.size());
  return request;
}

HttpRequest rest_head(const inference::ModelInferRequest& request, const CallHead& call) {
  HttpRequest head =
      rest_head(model_path(request.model_name(), request.model_version()) + "/infer", call);
  head.method = "POST";
  if (request.id().size() <= kLongestName) head.origin.request_id = request.id();
  head.fields.emplace_back("Content-Length", std::to_string(request.ByteSizeLong()));
  if (!call.time_left) return head;
  const auto time =
      std::clamp<std::chrono::nanoseconds>(*call.time_left, std::chrono::nanoseconds(1), kLongest);
  head.fields.emplace_back("X-Request-Timeout", fmt::format("{}ns", time.count()));
  return head;
}

Status check_names(std::string_view model_name, std::string_view model_version) {
  MILLRACE_RETURN_IF_ERROR(check_text("the name of the model", model_name));
  return check_text("the version of the model", model_version);
}

Status check_parts(const inference::ModelInferRequest& request) {
  MILLRACE_RETURN_IF_ERROR(check_text("the id", request.id()));
  if (request.inputs_size() > kMostTensors || request.outputs_size() > kMostTensors)
    return invalid_argument(
        fmt::format("the request has {} inputs and {} outputs, and at most {} of each are taken",
                    request.inputs_size(), request.outputs_size(), kMostTensors));
  size_t parameters = 0;
  MILLRACE_RETURN_IF_ERROR(check_parameters(request.parameters(), parameters));
  for (const InputTensorMessage& input : request.inputs()) {
    MILLRACE_RETURN_IF_ERROR(check_input(input));
    MILLRACE_RETURN_IF_ERROR(check_parameters(input.parameters(), parameters));
  }
  for (const auto& output : request.outputs()) {
    MILLRACE_RETURN_IF_ERROR(check_text("the name of an output", output.name()));
    MILLRACE_RETURN_IF_ERROR(check_parameters(output.parameters(), parameters));
  }
  return {};
}

Result<RestBody> rest_body(const inference::ModelInferRequest& request,
                           const std::function<bool(uint64_t)>& take) {
  if (is_picture_request(request)) return picture_body(request, take);
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<Source> sources, sources_of(request));
  const std::string header = header_of(request, sources);
  RestBody body;
  size_t bytes = header.size();
  for (const Source& source : sources) bytes += source.bytes;
  MILLRACE_RETURN_IF_ERROR(allocate_body(bytes, header.size(), take, body));
  std::memcpy(body.bytes.data(), header.data(), header.size());
  MILLRACE_RETURN_IF_ERROR(write_tensors(request, sources, body.bytes.data() + header.size()));
  return body;
}

AnswerForm::AnswerForm(const inference::ModelInferRequest& request)
    : id(request.id().size() <= kLongestName ? request.id() : std::string()),
      raw(request.raw_input_contents_size() > 0) {
  const auto found = request.parameters().find(std::string(kBinaryOutputs));
  if (found != request.parameters().end() && found->second.bool_param()) raw = true;
}

std::optional<RestFailure> failure_of(const HttpResponse& answer) {
  if (answer.status == 200) return std::nullopt;
  RestFailure failure = {.status = answer.status};
  const json body = json::parse(answer.text, nullptr, false);
  if (body.is_object()) failure.message = body.value("error", "");
  for (const auto& [name, value] : answer.fields)
    if (name == "Retry-After")
      std::from_chars(value.data(), value.data() + value.size(), failure.retry_seconds);
  return failure;
}

std::optional<RestFailure> read_answer(const HttpResponse& answer, const AnswerForm& form,
                                       inference::ModelInferResponse& response) {
  if (auto failure = failure_of(answer)) return failure;
  // With raw tensors, the text is the header alone.
  const json header = json::parse(answer.text);
  response.set_model_name(header.value("model_name", ""));
  response.set_model_version(header.value("model_version", ""));
  response.set_id(form.id);
  std::span<const std::span<const std::byte>> raw = answer.raw;
  const json& outputs = header.at("outputs");
  const bool as_raw = form.raw || !has_fields(outputs);
  for (const json& output : outputs) read_output(output, raw, as_raw, response);
  return std::nullopt;
}

}  // namespace millrace::serve
