#include "cli/bench/remote/remote_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "cli/bench/remote/protocol.h"

namespace millrace::cli {
namespace {

using nlohmann::json;

constexpr size_t kMostMessage = 300;

// The types of the protocol by their names there.
constexpr std::array<std::pair<std::string_view, DataType>, 13> kTypes = {
    {{"BOOL", DataType::kBoolean},
     {"UINT8", DataType::kUint8},
     {"INT8", DataType::kInt8},
     {"UINT16", DataType::kUint16},
     {"INT16", DataType::kInt16},
     {"FP16", DataType::kFp16},
     {"BF16", DataType::kBf16},
     {"UINT32", DataType::kUint32},
     {"INT32", DataType::kInt32},
     {"FP32", DataType::kFloat32},
     {"UINT64", DataType::kUint64},
     {"INT64", DataType::kInt64},
     {"FP64", DataType::kFloat64}}};

std::string percent_encoded(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    text += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text;
}

// A dimension of the description; -1 is one that requests choose.
Result<uint32_t> dimension(const json& stated, const std::string& input) {
  const auto size = stated.get<int64_t>();
  if (size < 0) return kOpenDimension;
  if (size < int64_t{kOpenDimension}) return static_cast<uint32_t>(size);
  return corrupt_data(fmt::format("the input \"{}\" has a dimension of {}", input, size));
}

Result<graph::Boundary> boundary_of(const json& input) {
  const auto& name = input.at("name").get_ref<const std::string&>();
  const auto& datatype = input.at("datatype").get_ref<const std::string&>();
  const auto* const type =
      std::ranges::find(kTypes, datatype, &decltype(kTypes)::value_type::first);
  if (type == kTypes.end())
    return Status(StatusCode::kUnsupported,
                  fmt::format("the input \"{}\" has the type {}, whose elements are not sent here",
                              name, datatype));
  std::vector<uint32_t> shape;
  for (const json& stated : input.at("shape")) {
    MILLRACE_ASSIGN_OR_RETURN(const uint32_t size, dimension(stated, name));
    shape.push_back(size);
  }
  if (shape.size() > TensorShape::kMaxRank)
    return Status(
        StatusCode::kUnsupported,
        fmt::format("the input \"{}\" has more than {} dimensions", name, TensorShape::kMaxRank));
  graph::Boundary boundary;
  boundary.open = std::ranges::find(shape, kOpenDimension) != shape.end();
  boundary.cpu = tensor::make_cpu_desc(name, type->second, std::move(shape));
  return boundary;
}

std::string path_of(const std::string& model) {
  return "/v2/models/" + percent_encoded(model);
}

Result<RemoteModel> model_of(const json& description, const std::string& name) {
  RemoteModel model{.path = path_of(name), .described = {}};
  model.described.name = name;
  for (const json& input : description.at("inputs")) {
    MILLRACE_ASSIGN_OR_RETURN(graph::Boundary boundary, boundary_of(input));
    model.described.inputs.push_back(std::move(boundary));
  }
  return model;
}

}  // namespace

std::string error_of(const RemoteAnswer& answer) {
  const json body = json::parse(answer.body, nullptr, false);
  const auto error = body.is_object() ? body.find("error") : body.end();
  const bool has_error = body.is_object() && error != body.end() && error->is_string();
  const std::string text = has_error ? error->get<std::string>() : answer.body;
  return fmt::format("{}: {}", answer.status, text.substr(0, kMostMessage));
}

std::string_view protocol_type(DataType type) {
  return std::ranges::find(kTypes, type, &decltype(kTypes)::value_type::second)->first;
}

Result<RemoteModel> describe(const RemoteServer& server, const std::string& model) {
  return server.protocol ? server.protocol->describe(server, model)
                         : describe_over_http(server, model);
}

Result<RemoteModel> describe_over_http(const RemoteServer& server, const std::string& model) {
  const std::string text =
      fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\n\r\n", path_of(model), server.host);
  MILLRACE_ASSIGN_OR_RETURN(const RemoteAnswer answer,
                            connection_to(server)->ask(text, kMostDescription));
  return model_of_description(answer, model);
}

Result<RemoteModel> model_of_description(const RemoteAnswer& answer, const std::string& model) {
  if (answer.status != 200)
    return Status(answer.status == 404 ? StatusCode::kNotFound : StatusCode::kIoError,
                  "the server does not describe the model, but answers " + error_of(answer));
  try {
    return model_of(json::parse(answer.body), model);
  } catch (const json::exception&) {
    return corrupt_data("the server describes the model in a form that is not the protocol's");
  }
}

std::string request_text(const RemoteServer& server, const RemoteModel& model,
                         std::span<const graph::Boundary> inputs,
                         std::span<const std::span<const std::byte>> bytes) {
  return server.protocol ? server.protocol->request(server, model, inputs, bytes)
                         : http_request_text(server, model, inputs, bytes);
}

std::string http_request_text(const RemoteServer& server, const RemoteModel& model,
                              std::span<const graph::Boundary> inputs,
                              std::span<const std::span<const std::byte>> bytes) {
  json header = {{"parameters", {{"binary_data_output", true}}}, {"inputs", json::array()}};
  size_t raw_bytes = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    header["inputs"].push_back({{"name", inputs[i].cpu.name},
                                {"datatype", protocol_type(inputs[i].cpu.type)},
                                {"shape", inputs[i].cpu.shape},
                                {"parameters", {{"binary_data_size", bytes[i].size()}}}});
    raw_bytes += bytes[i].size();
  }
  const std::string text = header.dump();
  std::string request = fmt::format(
      "POST {}/infer HTTP/1.1\r\nHost: {}\r\nContent-Type: application/octet-stream\r\n"
      "Inference-Header-Content-Length: {}\r\nContent-Length: {}\r\n\r\n{}",
      model.path, server.host, text.size(), text.size() + raw_bytes, text);
  request.reserve(request.size() + raw_bytes);
  for (const std::span<const std::byte> raw : bytes)
    request.append(reinterpret_cast<const char*>(raw.data()), raw.size());
  return request;
}

}  // namespace millrace::cli
