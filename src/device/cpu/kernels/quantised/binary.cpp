// Binary on integers, in pieces that stay in the L1 cache: each is dequantised, combined in FP32,
// and quantised. One operand may be a FLOAT32 constant.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "device/cpu/builder/byte_conversion.h"
#include "device/cpu/kernels/elementwise/binary.h"
#include "device/cpu/kernels/quantised/convolution/residual_sum.h"
#include "device/cpu/kernels/quantised/loops.h"
#include "device/cpu/kernels/quantised/parameters.h"
#include "device/cpu/kernels/quantised/quantised.h"

namespace millrace::device::cpu::kernels::quantised {
namespace {

using graph::BinaryKind;
using graph::ValueId;
using tensor::ElementRule;

// a is [outer, rows, columns]; b is broadcast over the dimensions that it does not have.
struct Extents {
  size_t outer = 1, rows = 1, columns = 1;
  bool b_has_outer = true, b_has_rows = true, b_has_columns = true;
};

// The buffer of elements, and their conversion to FP32.
struct Elements {
  std::optional<ByteConversion> conversion;  // absent: the elements are FP32
  ElementRule rule;
  BufferId buffer;
};

class CombineStep final : public Step {
 public:
  CombineStep(BinaryKind kind, const Extents& extents, bool swapped, Elements a, Elements b,
              Elements to)
      : kind_(kind),
        extents_(extents),
        swapped_(swapped),
        a_(std::move(a)),
        b_(std::move(b)),
        to_(std::move(to)) {}
  std::vector<BufferId> buffers() const override { return {a_.buffer, b_.buffer, to_.buffer}; }
  Status run(const RunState& state) const noexcept override {
    const auto [outer, rows, columns, b_has_outer, b_has_rows, b_has_columns] = extents_;
    const size_t b_rows = b_has_rows ? rows : 1, b_columns = b_has_columns ? columns : 1;
    size_t at = 0;
    for (size_t o = 0; o < outer; ++o)
      for (size_t r = 0; r < rows; ++r, at += columns)
        combine_row(state, at, ((b_has_outer ? o * b_rows : 0) + (b_has_rows ? r : 0)) * b_columns);
    return {};
  }

 private:
  static constexpr size_t kPiece = 1024;

  void combine_row(const RunState& state, size_t a_at, size_t b_at) const {
    std::array<float, kPiece> a, b;
    for (size_t i = 0; i < extents_.columns; i += kPiece) {
      const size_t count = std::min(kPiece, extents_.columns - i);
      load(state, a_, a_at + i, count, a.data());
      if (extents_.b_has_columns)
        load(state, b_, b_at + i, count, b.data());
      else
        std::fill_n(b.begin(), count, number(state, b_, b_at));
      float* const result = swapped_ ? b.data() : a.data();
      combine(kind_, result, swapped_ ? a.data() : b.data(), count);
      to_.conversion->quantise(result, state.output<std::byte>(to_.buffer) + a_at + i, count,
                               to_.rule);
    }
  }

  static void load(const RunState& state, const Elements& elements, size_t at, size_t count,
                   float* to) {
    if (elements.conversion)
      elements.conversion->dequantise(state.input<std::byte>(elements.buffer) + at, to, count,
                                      elements.rule);
    else
      std::copy_n(state.input<float>(elements.buffer) + at, count, to);
  }

  static float number(const RunState& state, const Elements& elements, size_t at) {
    float number;
    load(state, elements, at, 1, &number);
    return number;
  }

  const BinaryKind kind_;
  const Extents extents_;
  const bool swapped_;
  const Elements a_, b_, to_;
};

size_t product(Dims::const_iterator first, Dims::const_iterator last) {
  return static_cast<size_t>(std::accumulate(first, last, int64_t{1}, std::multiplies<>()));
}

// Returns how b is broadcast to a, which has the shape of the result and the same layout. Returns
// nothing if that is not by rows.
struct Spread {
  bool channels_last;
  Extents extents;
};

bool all_ones(Dims::const_iterator first, Dims::const_iterator last) {
  return std::all_of(first, last, [](int64_t dim) { return dim == 1; });
}

std::optional<Spread> spread_of(const Dims& a, const Dims& b) {
  if (a == b) return Spread{false, {1, 1, product(a.begin(), a.end()), true, true}};
  if (all_ones(b.begin(), b.end()))
    return Spread{false, {1, 1, product(a.begin(), a.end()), false, false, false}};
  const size_t rank = a.size();
  const bool one_outer = b[0] == 1 && a[0] != 1;
  // b has an element for each channel of an image, or of each image.
  if (rank >= 3 && b[1] == a[1] && all_ones(b.begin() + 2, b.end()) && (one_outer || b[0] == a[0]))
    return Spread{true,
                  {static_cast<size_t>(a[0]), product(a.begin() + 2, a.end()),
                   static_cast<size_t>(a[1]), !one_outer, false}};
  // b has one row for all rows.
  if (b[rank - 1] == a[rank - 1] && all_ones(b.begin(), b.end() - 1))
    return Spread{
        false, {1, product(a.begin(), a.end() - 1), static_cast<size_t>(a[rank - 1]), true, false}};
  return std::nullopt;
}

// The scales of the operands and of the result while they are combined: there are fewer roundings
// if the scales are merged into one factor.
struct Scales {
  double a, b, to;
};

Scales scales_between(BinaryKind kind, const Scales& real) {
  switch (kind) {
    case BinaryKind::kAdd:
    case BinaryKind::kSub:
    case BinaryKind::kMin:
    case BinaryKind::kMax:
      return {real.a / real.to, real.b / real.to, 1};
    case BinaryKind::kMul:
      return {1, 1, real.to / (real.a * real.b)};
    case BinaryKind::kDiv:
      return {1, 1, real.to * real.b / real.a};
    case BinaryKind::kPrelu:
      return {real.a / real.to, real.b, 1};
    case BinaryKind::kPow:
      break;
  }
  return real;
}

bool holds(const Scales& scales) {
  return std::isnormal(static_cast<float>(scales.a)) &&
         std::isnormal(static_cast<float>(scales.b)) &&
         std::isnormal(static_cast<float>(scales.to));
}

bool is_float_constant(const Builder& builder, ValueId id) {
  return builder.is_constant(id) && !builder.is_quantised(id) &&
         builder.value(id).type == tensor::DataType::kFloat32;
}

// Returns the scale of a quantised value, and 1 for floating point elements.
std::optional<float> scale_of(const Builder& builder, ValueId id) {
  if (is_float_constant(builder, id)) return 1;
  const auto rule = rule_of(builder, id);
  return rule ? std::optional(rule->scale) : std::nullopt;
}

Elements elements_of(const Builder& builder, ValueId id, double scale, BufferId buffer) {
  ElementRule rule = rule_of(builder, id).value_or(ElementRule());
  rule.scale = static_cast<float>(scale);
  return {conversion_of(builder.value(id).type), rule, buffer};
}

// Returns the operand that is broadcast: a vector, or one for each image, which is the same in
// every layout.
Result<BufferId> smaller_operand(Builder& builder, ValueId id, double scale) {
  if (!is_float_constant(builder, id)) {
    MILLRACE_ASSIGN_OR_RETURN(const Operand plain,
                              builder.stored_in(id, builder.plain_stored_form(id)));
    return plain.buffer;
  }
  std::vector<float> numbers = builder.constant_floats(id);
  for (float& number : numbers) number = static_cast<float>(number * scale);
  return builder.add_constant(plain_desc(builder.dims(id), ElementType::f32), numbers).buffer;
}

}  // namespace

Result<bool> lower(Builder& builder, const Node& node, const graph::Binary& op) {
  MILLRACE_ASSIGN_OR_RETURN(const bool by_conv, lower_postponed_conv(builder, node));
  if (by_conv) return true;
  ValueId a = node.input(0), b = node.input(1);
  const ValueId y = node.outputs[0];
  const auto a_scale = scale_of(builder, a), b_scale = scale_of(builder, b);
  const auto y_rule = rule_of(builder, y);
  if (!a_scale || !b_scale || !y_rule) return false;
  const Scales real{*a_scale, *b_scale, y_rule->scale};
  Scales scales = scales_between(op.kind, real);
  if (!holds(scales)) scales = real;
  const Dims dims = builder.dims(y);
  const bool swapped = builder.dims(a) != dims || is_float_constant(builder, a);
  if (swapped) {
    std::swap(a, b);
    std::swap(scales.a, scales.b);
  }
  if (builder.dims(a) != dims || is_float_constant(builder, a)) return false;
  const auto spread = spread_of(dims, with_rank(builder.dims(b), dims.size()));
  if (!spread) return false;
  const ElementType a_type = builder.stored_type(a);
  Operand left;
  BufferId right = 0;
  if (builder.dims(b) == dims && !is_float_constant(builder, b)) {
    MILLRACE_ASSIGN_OR_RETURN(left, dense(builder, a));
    MILLRACE_ASSIGN_OR_RETURN(const Operand same,
                              builder.stored_in(b, with_type(left.desc, builder.stored_type(b))));
    right = same.buffer;
  } else {
    // An operand of lower rank has no layout in common with the result.
    MILLRACE_ASSIGN_OR_RETURN(
        left, builder.stored_in(a, spread->channels_last ? channels_last_desc(dims, a_type)
                                                         : plain_desc(dims, a_type)));
    MILLRACE_ASSIGN_OR_RETURN(right, smaller_operand(builder, b, scales.b));
  }
  const Operand to = builder.new_stored_result(y, with_type(left.desc, builder.stored_type(y)));
  builder.add("Binary", "millrace:combine",
              std::make_unique<CombineStep>(op.kind, spread->extents, swapped,
                                            elements_of(builder, a, scales.a, left.buffer),
                                            elements_of(builder, b, scales.b, right),
                                            elements_of(builder, y, scales.to, to.buffer)));
  return true;
}

}  // namespace millrace::device::cpu::kernels::quantised
