// Adds values of integer types, and products of bytes.
#include <algorithm>

#include "tests/random_graphs/graph_maker.h"

namespace millrace::test {
namespace {

std::optional<ValueId> any_exact_floats(GraphMaker& maker) {
  return maker.any([&](ValueId id) {
    return maker.type(id) == DataType::kFloat32 && maker.error(id) == 0 && maker.largest(id) < 64;
  });
}

bool cast_to_integers(GraphMaker& maker) {
  const auto x = any_exact_floats(maker);
  if (!x) return false;
  constexpr DataType kTypes[] = {DataType::kInt8, DataType::kInt32, DataType::kInt64,
                                 DataType::kUint8, DataType::kBoolean};
  const DataType type = maker.random().one_of(kTypes);
  const auto is_negative = [](float number) { return number <= -1; };
  if (type == DataType::kUint8 && std::ranges::any_of(maker.expected(*x), is_negative))
    return false;
  maker.compute_exactly(graph::Cast{type}, {*x});
  return true;
}

std::optional<ValueId> any_integers(GraphMaker& maker) {
  return maker.any(
      [&](ValueId id) { return tensor::is_integer(maker.type(id)) && !maker.is_quantised(id); });
}

bool cast_to_floats(GraphMaker& maker) {
  const auto x = any_integers(maker);
  if (!x) return false;
  maker.compute(graph::Cast{DataType::kFloat32}, {*x}, maker.error(*x));
  return true;
}

bool quantize(GraphMaker& maker) {
  const auto x = any_exact_floats(maker);
  if (!x) return false;
  const ValueId bytes = maker.compute_exactly(
      graph::Fallback{"QuantizeLinear", {}},
      {*x, maker.number(1 / 32.0f), maker.constant_integers({}, DataType::kInt8, {5})});
  if (maker.random().chance(50)) return true;
  maker.compute_exactly(
      graph::Fallback{"DequantizeLinear", {}},
      {bytes, maker.number(1 / 32.0f), maker.constant_integers({}, DataType::kInt8, {5})});
  return true;
}

// BF16 would round the scale.
bool quantize_dynamically(GraphMaker& maker) {
  if (maker.numbers() == Numbers::kBf16) return false;
  const auto x = any_exact_floats(maker);
  if (!x) return false;
  maker.compute_exactly(graph::Fallback{"DynamicQuantizeLinear", {}}, {*x}, 3);
  return true;
}

std::vector<int64_t> weights(Random& random, int64_t count) {
  std::vector<int64_t> result;
  for (; count > 0; --count) result.push_back(random.between(-127, 127));
  return result;
}

bool integer_product(GraphMaker& maker) {
  const auto x = maker.any([&](ValueId id) {
    const bool is_bytes = maker.type(id) == DataType::kInt8 || maker.type(id) == DataType::kUint8;
    return is_bytes && !maker.is_quantised(id) && maker.dims(id).size() >= 2 &&
           maker.dims(id).size() <= 4;
  });
  if (!x) return false;
  const Dims dims = maker.dims(*x);
  const int64_t results = maker.new_dim();
  const bool is_image = dims.size() == 4 && maker.random().chance(60);
  const Dims weight_dims = is_image ? Dims{results, dims[1], 1, 1} : Dims{dims.back(), results};
  const ValueId weight = maker.constant_integers(
      weight_dims, DataType::kInt8,
      weights(maker.random(), results * (is_image ? dims[1] : dims.back())));
  maker.compute_exactly(graph::Fallback{is_image ? "ConvInteger" : "MatMulInteger", {}},
                        {*x, weight});
  return true;
}

constexpr Kind kIntegers[] = {
    {"Cast to integers", 4, cast_to_integers}, {"Cast to floats", 5, cast_to_floats},
    {"QuantizeLinear", 4, quantize},           {"DynamicQuantizeLinear", 3, quantize_dynamically},
    {"MatMulInteger", 5, integer_product},
};

}  // namespace

std::span<const Kind> integers() {
  return kIntegers;
}

}  // namespace millrace::test
