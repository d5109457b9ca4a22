// Reads the JSON of an inference request. It is parsed as a stream: numbers of tensors go straight
// into compact lists, and depth and number of elements are limited before memory is taken for them.
// Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"
#include "millrace/tensor.hpp"

namespace millrace::serve {

using Parameter = std::variant<bool, int64_t, double, std::string>;
using Parameters = std::map<std::string, Parameter, std::less<>>;

// Elements in the order of the text. Each is 8 bytes, whose meaning its kind says.
class JsonElements {
 public:
  enum class Kind : uint8_t { kBoolean, kUnsigned, kNegative, kReal };

  void add(Kind kind, uint64_t bits) {
    kinds_.push_back(kind);
    bits_.push_back(bits);
  }
  size_t size() const { return kinds_.size(); }
  Kind kind(size_t i) const { return kinds_[i]; }
  uint64_t bits(size_t i) const { return bits_[i]; }

 private:
  std::vector<Kind> kinds_;
  std::vector<uint64_t> bits_;
};

// The lengths of nested lists, by depth. Lists of one depth have one length, or are ragged.
struct Nesting {
  std::vector<int64_t> lengths;
  bool ragged = false;
};

struct JsonTensor {
  std::string name, datatype;
  std::vector<int64_t> shape;
  bool has_shape = false, has_data = false;
  JsonElements data;
  Nesting nesting;
  Parameters parameters;
};

struct JsonInferRequest {
  std::string id;
  Parameters parameters;
  std::vector<JsonTensor> inputs, outputs;  // outputs have a name and parameters only
};

struct JsonLimits {
  uint64_t elements = 0;  // of one tensor
  size_t tensors = 0;     // inputs, and outputs
};

// The deepest nesting of objects and lists: a tensor of the highest rank, and what is around it.
inline constexpr size_t kMostJsonDepth = TensorShape::kMaxRank + 4;

// The most parameters of a request, those of its tensors among them: a short one takes many times
// its bytes.
inline constexpr size_t kMostJsonParameters = 1024;

// kInvalidArgument for text that is no such request, or exceeds a limit; the message says what.
Result<JsonInferRequest> read_json_request(std::string_view text, const JsonLimits& limits);

}  // namespace millrace::serve
