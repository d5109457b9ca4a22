#include "serve/protocol/json_request.h"

#include <fmt/format.h>

#include <bit>
#include <nlohmann/json.hpp>
#include <optional>

namespace millrace::serve {
namespace {

// The handler of the parser's events. It knows where it is by a stack of places; what it does not
// know is skipped, as the protocol wants it.
class RequestReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit RequestReader(const JsonLimits& limits) : limits_(limits) {}

  bool null() override { return places_.empty() || place() == Place::kSkipped || unexpected(); }
  bool boolean(bool value) override {
    if (in(Place::kData)) return element(JsonElements::Kind::kBoolean, value ? 1 : 0);
    return scalar(value);
  }
  bool number_integer(int64_t value) override {
    if (in(Place::kData))
      return element(JsonElements::Kind::kNegative, static_cast<uint64_t>(value));
    return integer(value);
  }
  bool number_unsigned(uint64_t value) override {
    if (in(Place::kData)) return element(JsonElements::Kind::kUnsigned, value);
    if (value > uint64_t{INT64_MAX}) return fail(fmt::format("the number {} is too large", value));
    return integer(static_cast<int64_t>(value));
  }
  bool number_float(double value, const std::string&) override {
    if (in(Place::kData)) return element(JsonElements::Kind::kReal, std::bit_cast<uint64_t>(value));
    return scalar(value);
  }
  bool string(std::string& value) override;
  bool binary(nlohmann::json::binary_t&) override { return unexpected(); }

  bool start_object(size_t) override;
  bool key(std::string& value) override {
    key_ = value;
    return true;
  }
  bool end_object() override { return leave(); }
  bool start_array(size_t) override;
  bool end_array() override;

  bool parse_error(size_t, const std::string&, const nlohmann::json::exception& error) override {
    return fail(error.what());
  }

  Result<JsonInferRequest> take() {
    if (!error_.empty()) return invalid_argument(std::move(error_));
    return std::move(request_);
  }

 private:
  enum class Place : uint8_t {
    kRequest,     // the outermost object
    kTensors,     // "inputs" or "outputs"
    kTensor,      // one of them
    kShape,       // its "shape"
    kData,        // its "data", or a list within
    kParameters,  // "parameters" of the request or of a tensor
    kSkipped,     // anything unknown
  };

  Place place() const { return places_.back(); }
  bool in(Place wanted) const { return !places_.empty() && place() == wanted; }
  JsonTensor& tensor() { return (in_outputs_ ? request_.outputs : request_.inputs).back(); }

  bool fail(std::string message) {
    if (error_.empty()) error_ = std::move(message);
    return false;
  }
  bool unexpected() { return fail(fmt::format("\"{}\" has a value of the wrong type", key_)); }

  bool enter(Place place) {
    if (places_.size() == kMostJsonDepth)
      return fail(fmt::format("it is nested more than {} deep", kMostJsonDepth));
    places_.push_back(place);
    return true;
  }
  bool leave() {
    places_.pop_back();
    return true;
  }

  bool integer(int64_t value) {
    if (!in(Place::kShape)) return scalar(value);
    if (tensor().shape.size() == TensorShape::kMaxRank)
      return fail(fmt::format("the shape of \"{}\" has more than {} dimensions", tensor().name,
                              TensorShape::kMaxRank));
    tensor().shape.push_back(value);
    return true;
  }
  bool scalar(Parameter value);
  bool element(JsonElements::Kind kind, uint64_t bits);
  bool begin_tensor();
  std::optional<Place> place_of_list() const;

  const JsonLimits limits_;
  std::vector<Place> places_;
  std::string key_, error_;
  bool in_outputs_ = false, of_tensor_ = false;
  size_t parameters_ = 0;
  std::vector<int64_t> counts_;  // of the lists of data that are open
  JsonInferRequest request_;
};

bool RequestReader::string(std::string& value) {
  if (in(Place::kRequest) && key_ == "id") {
    request_.id = value;
    return true;
  }
  if (in(Place::kTensor) && key_ == "name") {
    tensor().name = value;
    return true;
  }
  if (in(Place::kTensor) && key_ == "datatype") {
    tensor().datatype = value;
    return true;
  }
  if (in(Place::kData)) return fail("strings are data of BYTES tensors, which no model here has");
  return scalar(value);
}

// A value where the protocol has none of its type is an error; one that it does not know is not.
bool RequestReader::scalar(Parameter value) {
  if (places_.empty()) return fail("it is no JSON object");
  switch (place()) {
    case Place::kParameters:
      if (++parameters_ > kMostJsonParameters)
        return fail(fmt::format("it has more than {} parameters", kMostJsonParameters));
      (of_tensor_ ? tensor().parameters : request_.parameters)[key_] = std::move(value);
      return true;
    case Place::kRequest:
      return (key_ != "id" && key_ != "inputs" && key_ != "outputs" && key_ != "parameters") ||
             unexpected();
    case Place::kTensor:
      return (key_ != "name" && key_ != "datatype" && key_ != "shape" && key_ != "data" &&
              key_ != "parameters") ||
             unexpected();
    case Place::kSkipped:
      return true;
    default:
      return unexpected();
  }
}

bool RequestReader::element(JsonElements::Kind kind, uint64_t bits) {
  JsonTensor& own = tensor();
  if (own.data.size() == limits_.elements)
    return fail(
        fmt::format("the data of \"{}\" have more than {} elements", own.name, limits_.elements));
  Nesting& nesting = own.nesting;
  ++counts_.back();
  // The first element shows how deep elements lie.
  if (own.data.size() == 0) nesting.lengths.assign(counts_.size(), -1);
  nesting.ragged = nesting.ragged || nesting.lengths.size() != counts_.size();
  own.data.add(kind, bits);
  return true;
}

bool RequestReader::begin_tensor() {
  auto& tensors = in_outputs_ ? request_.outputs : request_.inputs;
  if (tensors.size() == limits_.tensors)
    return fail(fmt::format("the model has {} {}, and the request more", limits_.tensors,
                            in_outputs_ ? "outputs" : "inputs"));
  tensors.emplace_back();
  return enter(Place::kTensor);
}

bool RequestReader::start_object(size_t) {
  if (places_.empty()) return enter(Place::kRequest);
  if (place() == Place::kTensors) return begin_tensor();
  if (place() == Place::kData || place() == Place::kShape) return unexpected();
  if (place() == Place::kParameters)
    return fail(fmt::format("the parameter \"{}\" is an object", key_));
  if (place() != Place::kSkipped && key_ == "parameters") {
    of_tensor_ = place() == Place::kTensor;
    return enter(Place::kParameters);
  }
  return enter(Place::kSkipped);
}

std::optional<RequestReader::Place> RequestReader::place_of_list() const {
  switch (place()) {
    case Place::kRequest:
      return key_ == "inputs" || key_ == "outputs" ? Place::kTensors : Place::kSkipped;
    case Place::kTensor:
      return key_ == "shape" ? Place::kShape : key_ == "data" ? Place::kData : Place::kSkipped;
    case Place::kData:
      return Place::kData;
    case Place::kSkipped:
      return Place::kSkipped;
    default:
      return std::nullopt;
  }
}

bool RequestReader::start_array(size_t) {
  if (places_.empty()) return fail("it is no JSON object");
  const auto next = place_of_list();
  if (!next) return unexpected();
  if (*next == Place::kTensors) in_outputs_ = key_ == "outputs";
  if (*next == Place::kShape) tensor().has_shape = true;
  if (*next == Place::kData) {
    tensor().has_data = true;
    if (!counts_.empty()) ++counts_.back();
    counts_.push_back(0);
  }
  return enter(*next);
}

bool RequestReader::end_array() {
  if (in(Place::kData)) {
    Nesting& nesting = tensor().nesting;
    const size_t depth = counts_.size() - 1;
    if (depth < nesting.lengths.size()) {
      int64_t& length = nesting.lengths[depth];
      nesting.ragged = nesting.ragged || (length >= 0 && length != counts_.back());
      length = counts_.back();
    } else {
      nesting.ragged = nesting.ragged || tensor().data.size() > 0;
    }
    counts_.pop_back();
  }
  return leave();
}

}  // namespace

Result<JsonInferRequest> read_json_request(std::string_view text, const JsonLimits& limits) {
  RequestReader reader(limits);
  nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
  Result<JsonInferRequest> request = reader.take();
  if (!request.ok()) return request.status().with_context("the request's JSON");
  return request;
}

}  // namespace millrace::serve
