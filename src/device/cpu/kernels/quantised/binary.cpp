// Binary on integers: pieces that stay in the first cache become numbers, are combined, and become
// integers again.
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>

#include "device/cpu/byte_conversion.h"
#include "device/cpu/kernels/binary.h"
#include "device/cpu/kernels/quantised/convolution/residual_sum.h"
#include "device/cpu/kernels/quantised/loops.h"
#include "device/cpu/kernels/quantised/parameters.h"
#include "device/cpu/kernels/quantised/quantised.h"

namespace millrace::device::cpu::kernels::quantised {
namespace {

using graph::BinaryKind;
using graph::ValueId;
using tensor::ElementRule;

// a is [outer, rows, columns], b has `b_rows` in place of the rows, one or all of them, and `outer`
// or one outer index.
struct Extents {
  size_t outer = 1, rows = 1, columns = 1;
  bool b_has_outer = true, b_has_rows = true;
};

struct Bytes {
  ByteConversion conversion;
  ElementRule rule;
  BufferId buffer;
};

class CombineStep final : public Step {
 public:
  CombineStep(BinaryKind kind, const Extents& extents, bool swapped, Bytes a, Bytes b, Bytes to)
      : kind_(kind),
        extents_(extents),
        swapped_(swapped),
        a_(std::move(a)),
        b_(std::move(b)),
        to_(std::move(to)) {}
  std::vector<BufferId> buffers() const override { return {a_.buffer, b_.buffer, to_.buffer}; }
  Status run(const RunState& state) const noexcept override {
    const auto [outer, rows, columns, b_has_outer, b_has_rows] = extents_;
    size_t at = 0;
    for (size_t o = 0; o < outer; ++o)
      for (size_t r = 0; r < rows; ++r, at += columns) {
        const size_t b_row = (b_has_outer ? o * (b_has_rows ? rows : 1) : 0) + (b_has_rows ? r : 0);
        combine_row(state, at, b_row * columns);
      }
    return {};
  }

 private:
  static constexpr size_t kPiece = 1024;

  void combine_row(const RunState& state, size_t a_at, size_t b_at) const {
    std::array<float, kPiece> a, b;
    for (size_t i = 0; i < extents_.columns; i += kPiece) {
      const size_t count = std::min(kPiece, extents_.columns - i);
      load(state, a_, a_at + i, count, a.data());
      load(state, b_, b_at + i, count, b.data());
      float* const result = swapped_ ? b.data() : a.data();
      combine(kind_, result, swapped_ ? a.data() : b.data(), count);
      to_.conversion.quantise(result, state.output<std::byte>(to_.buffer) + a_at + i, count,
                              to_.rule);
    }
  }

  static void load(const RunState& state, const Bytes& bytes, size_t at, size_t count, float* to) {
    bytes.conversion.dequantise(state.input<std::byte>(bytes.buffer) + at, to, count, bytes.rule);
  }

  const BinaryKind kind_;
  const Extents extents_;
  const bool swapped_;
  const Bytes a_, b_, to_;
};

size_t product(Dims::const_iterator first, Dims::const_iterator last) {
  return static_cast<size_t>(std::accumulate(first, last, int64_t{1}, std::multiplies<>()));
}

// How b goes over a, which has the shape of the result, both with the same layout; nothing where
// that is not in rows.
struct Spread {
  bool channels_last;
  Extents extents;
};

bool all_ones(Dims::const_iterator first, Dims::const_iterator last) {
  return std::all_of(first, last, [](int64_t dim) { return dim == 1; });
}

std::optional<Spread> spread_of(const Dims& a, const Dims& b) {
  if (a == b) return Spread{false, {1, 1, product(a.begin(), a.end()), true, true}};
  const size_t rank = a.size();
  const bool one_outer = b[0] == 1 && a[0] != 1;
  // One number for each channel of an image, or of each image.
  if (rank >= 3 && b[1] == a[1] && all_ones(b.begin() + 2, b.end()) && (one_outer || b[0] == a[0]))
    return Spread{true,
                  {static_cast<size_t>(a[0]), product(a.begin() + 2, a.end()),
                   static_cast<size_t>(a[1]), !one_outer, false}};
  // A row for all rows.
  if (b[rank - 1] == a[rank - 1] && all_ones(b.begin(), b.end() - 1))
    return Spread{
        false, {1, product(a.begin(), a.end() - 1), static_cast<size_t>(a[rank - 1]), true, false}};
  return std::nullopt;
}

Bytes bytes_of(const Builder& builder, ValueId id, BufferId buffer) {
  return {*conversion_of(builder.value(id).type), *rule_of(builder, id), buffer};
}

}  // namespace

Result<bool> lower(Builder& builder, const Node& node, const graph::Binary& op) {
  MILLRACE_ASSIGN_OR_RETURN(const bool by_conv, lower_postponed_conv(builder, node));
  if (by_conv) return true;
  ValueId a = node.input(0), b = node.input(1);
  const ValueId y = node.outputs[0];
  if (!can_combine(op.kind)) return false;
  for (const ValueId id : {a, b, y})
    if (!rule_of(builder, id) || !conversion_of(builder.value(id).type)) return false;
  const Dims dims = builder.dims(y);
  const bool swapped = builder.dims(a) != dims;
  if (swapped) std::swap(a, b);
  if (builder.dims(a) != dims) return false;
  const Dims b_dims = with_rank(builder.dims(b), dims.size());
  const auto spread = spread_of(dims, b_dims);
  if (!spread) return false;
  // An operand of lower rank has no layout in common with the result.
  const bool is_whole = builder.dims(b) == dims;
  const ElementType a_type = builder.stored_type(a), b_type = builder.stored_type(b);
  Operand left, right;
  if (is_whole) {
    MILLRACE_ASSIGN_OR_RETURN(left, dense(builder, a));
    MILLRACE_ASSIGN_OR_RETURN(right, builder.stored_in(b, with_type(left.desc, b_type)));
  } else {
    MILLRACE_ASSIGN_OR_RETURN(
        left, builder.stored_in(a, spread->channels_last ? channels_last(dims, a_type)
                                                         : plain_desc(dims, a_type)));
    // A vector, or one of each image: the same in every layout.
    MILLRACE_ASSIGN_OR_RETURN(right, builder.stored_in(b, builder.plain_stored_form(b)));
  }
  const Operand to = builder.new_stored_result(y, with_type(left.desc, builder.stored_type(y)));
  builder.add("Binary", "millrace:combine",
              std::make_unique<CombineStep>(
                  op.kind, spread->extents, swapped, bytes_of(builder, a, left.buffer),
                  bytes_of(builder, b, right.buffer), bytes_of(builder, y, to.buffer)));
  return true;
}

}  // namespace millrace::device::cpu::kernels::quantised
