#include "cli/bench/remote/remote_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <string_view>

namespace millrace::cli {
namespace {

using nlohmann::json;

constexpr uint64_t kMostBytes = uint64_t{1} << 30;  // of all inputs
constexpr size_t kMostMessage = 300;
constexpr uint64_t kMostDescription = 4 << 20;  // bytes, of which JSON takes many times as many

struct ElementType {
  std::string_view name;
  size_t bytes;
};
constexpr std::array<ElementType, 13> kTypes = {{{"BOOL", 1},
                                                 {"UINT8", 1},
                                                 {"INT8", 1},
                                                 {"UINT16", 2},
                                                 {"INT16", 2},
                                                 {"FP16", 2},
                                                 {"BF16", 2},
                                                 {"UINT32", 4},
                                                 {"INT32", 4},
                                                 {"FP32", 4},
                                                 {"UINT64", 8},
                                                 {"INT64", 8},
                                                 {"FP64", 8}}};

std::string percent_encoded(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    text += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text;
}

// Random elements: about one for floating point, and 0 or 1 for integers, which may be indices.
std::string elements(const ElementType& type, uint64_t count, std::mt19937& random) {
  std::string bytes(count * type.bytes, '\0');
  std::normal_distribution<double> normal;
  for (uint64_t i = 0; i < count; ++i) {
    char* const at = bytes.data() + i * type.bytes;
    const auto bits = static_cast<uint32_t>(random());
    if (type.name == "FP32") {
      const auto value = static_cast<float>(normal(random));
      std::memcpy(at, &value, sizeof value);
    } else if (type.name == "FP64") {
      const double value = normal(random);
      std::memcpy(at, &value, sizeof value);
    } else if (type.name == "FP16" || type.name == "BF16") {
      // From 1 to 2: the exponent of one, and a random mantissa.
      const auto value = static_cast<uint16_t>(type.name == "FP16" ? 0x3C00 | (bits & 0x3FF)
                                                                   : 0x3F80 | (bits & 0x7F));
      std::memcpy(at, &value, sizeof value);
    } else {
      *at = static_cast<char>(type.name == "UINT8" ? bits & 0xFF : bits & 1);
    }
  }
  return bytes;
}

// Adds an input of the description to the header and the body of a request.
Status add_input(const json& input, std::mt19937& random, json& header, std::string& raw) {
  const auto& name = input.at("name").get_ref<const std::string&>();
  const auto& datatype = input.at("datatype").get_ref<const std::string&>();
  const auto* const type = std::ranges::find(kTypes, datatype, &ElementType::name);
  if (type == kTypes.end())
    return {StatusCode::kUnsupported,
            fmt::format("the input \"{}\" has the type {}, of which no random elements are made",
                        name, datatype)};
  json shape = json::array();
  uint64_t count = 1;
  for (const json& stated : input.at("shape")) {
    const auto size = stated.get<int64_t>();
    const uint64_t used = size < 0 ? 1 : static_cast<uint64_t>(size);
    shape.push_back(used);
    if (used > 0 && count > kMostBytes / used)
      count = kMostBytes + 1;
    else
      count *= used;
    if (count * type->bytes + raw.size() > kMostBytes)
      return corrupt_data(fmt::format("the input \"{}\" would be larger than 1 GiB", name));
  }
  header["inputs"].push_back({{"name", name},
                              {"datatype", datatype},
                              {"shape", shape},
                              {"parameters", {{"binary_data_size", count * type->bytes}}}});
  raw += elements(*type, count, random);
  return {};
}

Result<std::string> request_of(const json& description, const RemoteServer& server,
                               const std::string& path) {
  json header = {{"parameters", {{"binary_data_output", true}}}, {"inputs", json::array()}};
  std::string raw;
  std::mt19937 random(1);
  for (const json& input : description.at("inputs"))
    MILLRACE_RETURN_IF_ERROR(add_input(input, random, header, raw));
  const std::string text = header.dump();
  return fmt::format(
             "POST {}/infer HTTP/1.1\r\nHost: {}\r\nContent-Type: application/octet-stream\r\n"
             "Inference-Header-Content-Length: {}\r\nContent-Length: {}\r\n\r\n",
             path, server.host, text.size(), text.size() + raw.size()) +
         text + raw;
}

}  // namespace

std::string error_of(const RemoteAnswer& answer) {
  const json body = json::parse(answer.body, nullptr, false);
  const auto error = body.is_object() ? body.find("error") : body.end();
  const bool has_error = body.is_object() && error != body.end() && error->is_string();
  const std::string text = has_error ? error->get<std::string>() : answer.body;
  return fmt::format("{}: {}", answer.status, text.substr(0, kMostMessage));
}

Result<std::string> request_for(const RemoteServer& server, const std::string& model) {
  const std::string path = "/v2/models/" + percent_encoded(model);
  RemoteConnection connection(server);
  MILLRACE_ASSIGN_OR_RETURN(
      const RemoteAnswer answer,
      connection.ask(fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\n\r\n", path, server.host),
                     kMostDescription));
  if (answer.status != 200)
    return Status(answer.status == 404 ? StatusCode::kNotFound : StatusCode::kIoError,
                  "the server does not describe the model, but answers " + error_of(answer));
  try {
    return request_of(json::parse(answer.body), server, path);
  } catch (const json::exception&) {
    return corrupt_data("the server describes the model in a form that is not the protocol's");
  }
}

}  // namespace millrace::cli
