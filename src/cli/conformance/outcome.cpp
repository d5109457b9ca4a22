#include "cli/conformance/outcome.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace millrace::cli {
namespace {

using Json = nlohmann::json;

constexpr const char* kNames[] = {"pass", "fail", "unsupported", "excluded"};

bool is_outcome(const Json& json) {
  return json.is_object() && json.contains("verdict") && json["verdict"].is_number_unsigned() &&
         json["verdict"].get<uint64_t>() < std::size(kNames) && json.contains("reason") &&
         json["reason"].is_string() && json.contains("absolute") && json["absolute"].is_number() &&
         (!json.contains("ulp") || json["ulp"].is_number());
}

}  // namespace

const char* to_string(Verdict verdict) {
  return kNames[static_cast<size_t>(verdict)];
}

std::string describe(const LargestError& error) {
  const std::string absolute = fmt::format("{:.3g} absolute", error.absolute);
  return error.ulp ? fmt::format("{:.6g} ULP, {}", *error.ulp, absolute) : absolute;
}

// CBOR rather than JSON text, since that cannot represent infinities.
std::vector<std::byte> encode_outcome(const Outcome& outcome) {
  Json json = {{"verdict", static_cast<uint64_t>(outcome.verdict)},
               {"reason", outcome.reason},
               {"absolute", outcome.error.absolute}};
  if (outcome.error.ulp) json["ulp"] = *outcome.error.ulp;
  const std::vector<uint8_t> cbor = Json::to_cbor(json);
  const auto bytes = std::as_bytes(std::span(cbor));
  return {bytes.begin(), bytes.end()};
}

Result<Outcome> decode_outcome(std::span<const std::byte> bytes) {
  const auto* first = reinterpret_cast<const uint8_t*>(bytes.data());
  const Json json = Json::from_cbor(first, first + bytes.size(), true, false);
  if (!is_outcome(json)) return corrupt_data("these bytes do not encode the outcome of a case");
  Outcome outcome;
  outcome.verdict = static_cast<Verdict>(json["verdict"].get<uint64_t>());
  outcome.reason = json["reason"];
  outcome.error.absolute = json["absolute"];
  if (json.contains("ulp")) outcome.error.ulp = json["ulp"].get<double>();
  return outcome;
}

}  // namespace millrace::cli
