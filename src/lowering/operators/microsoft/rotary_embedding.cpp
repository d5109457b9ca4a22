// Handlers of RotaryEmbedding of com.microsoft and of the standard. A pair (a, b) becomes
// (a cos - b sin, b cos + a sin), computed by Slice, Mul, Add and Concat. The cosines and sines are
// rows of tables, which Gather selects by position.
#include "lowering/operators/microsoft/rotary_embedding.h"

#include <fmt/format.h>

#include "lowering/operators/bounded_constant.h"
#include "lowering/operators/handlers.h"
#include "lowering/operators/microsoft/heads.h"

namespace millrace::lowering {
namespace {

using graph::BinaryKind;
using graph::Dims;

constexpr size_t kX = 0;

struct Pairs {
  ValueId first = kNoValue, second = kNoValue;
};

// Returns the first and the second members of the pairs among the first 2 * half elements.
Result<Pairs> pairs_of(NodeImport& node, ValueId x, int64_t half, bool interleaved) {
  const size_t axis = shape_of(node, x).size() - 1;
  Pairs pairs;
  if (!interleaved) {
    MILLRACE_ASSIGN_OR_RETURN(pairs.first, part_of(node, x, axis, 0, half));
    MILLRACE_ASSIGN_OR_RETURN(pairs.second, part_of(node, x, axis, half, half));
    return pairs;
  }
  MILLRACE_ASSIGN_OR_RETURN(x, part_of(node, x, axis, 0, 2 * half));
  Dims shape = shape_of(node, x);
  shape.back() = half;
  Dims paired = shape;
  paired.push_back(2);
  MILLRACE_ASSIGN_OR_RETURN(x, node.reshape(x, std::move(paired)));
  MILLRACE_ASSIGN_OR_RETURN(pairs.first, part_of(node, x, axis + 1, 0, 1));
  MILLRACE_ASSIGN_OR_RETURN(pairs.first, node.reshape(pairs.first, shape));
  MILLRACE_ASSIGN_OR_RETURN(pairs.second, part_of(node, x, axis + 1, 1, 1));
  MILLRACE_ASSIGN_OR_RETURN(pairs.second, node.reshape(pairs.second, shape));
  return pairs;
}

// The inverse of pairs_of().
Result<ValueId> joined(NodeImport& node, const Pairs& pairs, bool interleaved) {
  Dims shape = shape_of(node, pairs.first);
  const auto axis = static_cast<int64_t>(shape.size()) - 1;
  if (!interleaved) return node.emit(graph::Concat{axis}, {pairs.first, pairs.second});
  Dims one = shape;
  one.push_back(1);
  MILLRACE_ASSIGN_OR_RETURN(const ValueId first, node.reshape(pairs.first, one));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId second, node.reshape(pairs.second, one));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId both,
                            node.emit(graph::Concat{axis + 1}, {first, second}));
  shape.back() *= 2;
  return node.reshape(both, std::move(shape));
}

// Emits a * b + c * d or a * b - c * d; `sign` is kAdd or kSub.
Result<ValueId> sum_of_products(NodeImport& node, ValueId a, ValueId b, BinaryKind sign, ValueId c,
                                ValueId d) {
  MILLRACE_ASSIGN_OR_RETURN(const ValueId first, node.binary(BinaryKind::kMul, a, b));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId second, node.binary(BinaryKind::kMul, c, d));
  return node.binary(sign, first, second);
}

// Returns the rows of a table for the positions: [batch, length, half]; or [1, length, half] if
// there is only one position, which is that of the first token of every sequence.
Result<ValueId> rows_of(NodeImport& node, size_t table, size_t positions, int64_t length) {
  const Dims& shape = node.shape(positions);
  if (shape == Dims{node.shape(kX)[0], length})
    return node.emit(graph::Gather{0}, {node.operand(table), node.operand(positions)});
  if (shape != Dims{1}) return invalid_argument("its positions must be [batch, length] or [1]");
  MILLRACE_ASSIGN_OR_RETURN(const ValueId offsets,
                            add_table<int64_t>(node, {1, length}, "a list of positions",
                                               [](int64_t, int64_t token) { return token; }));
  MILLRACE_ASSIGN_OR_RETURN(const auto rows,
                            node.emit_fallback({"Add", {}}, {offsets, node.operand(positions)}, 1));
  return node.emit(graph::Gather{0}, {node.operand(table), rows[0]});
}

// Returns the number of heads of x, [batch, length, heads * size]. Without the attribute num_heads
// all elements of a head are rotated, of which the table at `cos` has one for two.
Result<int64_t> count_heads(NodeImport& node, size_t cos) {
  const int64_t whole = node.shape(kX)[2], heads = node.int_attribute("num_heads", 0);
  const int64_t size = 2 * node.shape(cos).back();
  if (heads > 0 && whole % heads == 0) return heads;
  if (heads == 0 && whole > 0 && size > 0 && whole % size == 0) return whole / size;
  return invalid_argument(
      fmt::format("{} elements cannot be divided into {} heads, nor into heads of size {}", whole,
                  heads, size));
}

// The length of the sequences of x.
int64_t length_of(NodeImport& node) {
  const Dims& shape = node.shape(kX);
  return shape[shape.size() == 4 ? 2 : 1];
}

Status check_ranks(NodeImport& node, size_t cos, size_t cos_rank) {
  const size_t rank = node.shape(kX).size();
  if ((rank == 3 || rank == 4) && node.shape(cos).size() == cos_rank) return {};
  return invalid_argument(
      fmt::format("its input must have rank 3 or 4, and its cosines rank {}", cos_rank));
}

// Rotates x, which is [batch, length, heads * size] or [batch, heads, length, size]. The cosines
// and sines are [batch or 1, length, half].
Result<ValueId> rotate_heads(NodeImport& node, size_t cos_operand, ValueId cos, ValueId sin) {
  const Dims shape = node.shape(kX);
  const bool heads_first = shape.size() == 4;
  ValueId x = node.operand(kX);
  if (!heads_first) {
    MILLRACE_ASSIGN_OR_RETURN(const int64_t heads, count_heads(node, cos_operand));
    MILLRACE_ASSIGN_OR_RETURN(x, node.reshape(x, {shape[0], shape[1], heads, shape[2] / heads}));
  }
  for (ValueId* const rows : {&cos, &sin}) {
    Dims dims = shape_of(node, *rows);
    dims.insert(dims.begin() + (heads_first ? 1 : 2), 1);
    MILLRACE_ASSIGN_OR_RETURN(*rows, node.reshape(*rows, std::move(dims)));
  }
  MILLRACE_ASSIGN_OR_RETURN(x,
                            rotated(node, x, cos, sin, node.int_attribute("interleaved", 0) != 0));
  return node.reshape(x, shape);
}

}  // namespace

Result<ValueId> rotated(NodeImport& node, ValueId x, ValueId cos, ValueId sin, bool interleaved) {
  const int64_t half = shape_of(node, cos).back(), size = shape_of(node, x).back();
  if (shape_of(node, sin) != shape_of(node, cos) || half < 1 || half > size / 2)
    return invalid_argument(fmt::format("cosines {} and sines {} do not fit heads of size {}",
                                        graph::to_string(shape_of(node, cos)),
                                        graph::to_string(shape_of(node, sin)), size));
  MILLRACE_ASSIGN_OR_RETURN(const Pairs pairs, pairs_of(node, x, half, interleaved));
  Pairs turned;
  MILLRACE_ASSIGN_OR_RETURN(
      turned.first, sum_of_products(node, pairs.first, cos, BinaryKind::kSub, pairs.second, sin));
  MILLRACE_ASSIGN_OR_RETURN(
      turned.second, sum_of_products(node, pairs.second, cos, BinaryKind::kAdd, pairs.first, sin));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId all, joined(node, turned, interleaved));
  if (2 * half == size) return all;
  const size_t axis = shape_of(node, x).size() - 1;
  MILLRACE_ASSIGN_OR_RETURN(const ValueId rest, part_of(node, x, axis, 2 * half, size - 2 * half));
  return node.emit(graph::Concat{static_cast<int64_t>(axis)}, {all, rest});
}

// Inputs: x; positions; tables of cosines and sines, by position.
Result<ValueId> import_rotary_embedding(NodeImport& node) {
  constexpr size_t kPositions = 1, kCos = 2, kSin = 3;
  if (node.int_attribute("is_packed_batching", 0) != 0)
    return unsupported("is_packed_batching is set");
  MILLRACE_RETURN_IF_ERROR(check_ranks(node, kCos, 2));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId cos, rows_of(node, kCos, kPositions, length_of(node)));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId sin, rows_of(node, kSin, kPositions, length_of(node)));
  return rotate_heads(node, kCos, cos, sin);
}

// Inputs: x; cosines; sines; positions. Without positions, the cosines and sines are those of the
// tokens, [batch, length, half].
Result<ValueId> import_standard_rotary_embedding(NodeImport& node) {
  constexpr size_t kCos = 1, kSin = 2, kPositions = 3;
  MILLRACE_RETURN_IF_ERROR(check_ranks(node, kCos, node.has(kPositions) ? 2 : 3));
  const int64_t dim = node.int_attribute("rotary_embedding_dim", 0);
  if (dim != 0 && dim != 2 * node.shape(kCos).back())
    return invalid_argument(fmt::format("rotary_embedding_dim is {}, but its cosines {} are for {}",
                                        dim, graph::to_string(node.shape(kCos)),
                                        2 * node.shape(kCos).back()));
  ValueId cos = node.operand(kCos), sin = node.operand(kSin);
  if (node.has(kPositions)) {
    MILLRACE_ASSIGN_OR_RETURN(cos, rows_of(node, kCos, kPositions, length_of(node)));
    MILLRACE_ASSIGN_OR_RETURN(sin, rows_of(node, kSin, kPositions, length_of(node)));
  }
  return rotate_heads(node, kCos, cos, sin);
}

}  // namespace millrace::lowering
