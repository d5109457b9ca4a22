// LabelEncoder for numeric keys and values: looks up each element in a table, by binary search.
// Lists of strings are refused.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "fallback/common_shapes.h"
#include "fallback/families.h"
#include "fallback/ml/rows.h"

namespace millrace::fallback {
namespace {

// A list of keys or values, of one of the kinds that the operator has: PREFIX_int64s, PREFIX_floats
// or, with either element type, PREFIX_tensor. Both pointers are null for a list of another kind.
struct NumberList {
  const Dims* integers = nullptr;
  const std::vector<float>* reals = nullptr;

  NumberList(const NodeView& node, const std::string& prefix) {
    integers = node.integers((prefix + "_int64s").c_str());
    reals = node.reals((prefix + "_floats").c_str());
    if (integers == nullptr && reals == nullptr) {
      integers = node.integers((prefix + "_tensor").c_str());
      reals = node.reals((prefix + "_tensor").c_str());
    }
  }

  bool is_known() const { return (integers == nullptr) != (reals == nullptr); }
  size_t size() const { return integers != nullptr ? integers->size() : reals->size(); }
  DataType type() const { return integers != nullptr ? DataType::kInt64 : DataType::kFloat32; }
};

Status shape_of_encoder(Inference& node) {
  const NumberList keys(node, "keys"), values(node, "values");
  if (!keys.is_known() || !values.is_known())
    return unsupported("only numeric keys and values are supported");
  if (keys.size() != values.size())
    return invalid_argument(
        fmt::format("it has {} keys and {} values", keys.size(), values.size()));
  if (keys.type() != node.in(0).type)
    return invalid_argument(fmt::format("its keys are {}, but its input is {}",
                                        tensor::to_string(keys.type()),
                                        tensor::to_string(node.in(0).type)));
  node.set(0, values.type(), to_dims(node.in(0).dims));
  return {};
}

// Keys in ascending order, with their positions. Of equal keys the last one counts. NaN is a valid
// key.
template <class Key>
class KeyTable {
 public:
  explicit KeyTable(const std::vector<Key>& keys) {
    for (size_t i = 0; i < keys.size(); ++i) {
      if (keys[i] != keys[i])
        nan_ = i;
      else
        entries_.push_back({keys[i], i});
    }
    std::ranges::sort(entries_);
  }

  std::optional<size_t> find(Key key) const {
    if (key != key) return nan_;
    const auto after = std::ranges::upper_bound(entries_, key, {}, &std::pair<Key, size_t>::first);
    if (after == entries_.begin() || (after - 1)->first != key) return std::nullopt;
    return (after - 1)->second;
  }

 private:
  std::vector<std::pair<Key, size_t>> entries_;
  std::optional<size_t> nan_;
};

int64_t default_value(const Call& call, int64_t) {
  const Dims* tensor = call.integers("default_tensor");
  return tensor != nullptr && !tensor->empty() ? (*tensor)[0] : call.integer("default_int64", -1);
}
float default_value(const Call& call, float) {
  const auto* tensor = call.reals("default_tensor");
  return tensor != nullptr && !tensor->empty() ? (*tensor)[0] : call.real("default_float", -0.0f);
}

template <class Key, class Value>
Status encode(const Call& call, const std::vector<Key>& keys, const std::vector<Value>& values) {
  const KeyTable<Key> table(keys);
  const Value absent = default_value(call, Value{});
  std::ranges::transform(call.in(0).as<Key>(), call.out(0).as<Value>().begin(), [&](Key key) {
    const auto position = table.find(key);
    return position ? values[*position] : absent;
  });
  return {};
}

Status encoder(const Call& call) {
  const NumberList keys(call, "keys"), values(call, "values");
  const auto with_keys = [&](const auto& own_keys) {
    return values.integers != nullptr ? encode(call, own_keys, *values.integers)
                                      : encode(call, own_keys, *values.reals);
  };
  return keys.integers != nullptr ? with_keys(*keys.integers) : with_keys(*keys.reals);
}

// Lists of strings are included so that the error message for a model with them says why it is not
// supported.
constexpr AttributeSpec kEncoder[] = {
    {"default_float", AttributeKind::kFloat},  {"default_int64", AttributeKind::kInteger},
    {"default_string", AttributeKind::kText},  {"default_tensor", AttributeKind::kNumbers},
    {"keys_floats", AttributeKind::kFloats},   {"keys_int64s", AttributeKind::kIntegers},
    {"keys_strings", AttributeKind::kTexts},   {"keys_tensor", AttributeKind::kNumbers},
    {"values_floats", AttributeKind::kFloats}, {"values_int64s", AttributeKind::kIntegers},
    {"values_strings", AttributeKind::kTexts}, {"values_tensor", AttributeKind::kNumbers}};
constexpr TypeSet kKeys = {DataType::kFloat32, DataType::kInt64};

}  // namespace

std::span<const OperatorSpec> label_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"ai.onnx.ml.LabelEncoder", 2, {}, {}, kKeys, shape_of_encoder, encoder, kEncoder},
  };
  return kOperators;
}

}  // namespace millrace::fallback
