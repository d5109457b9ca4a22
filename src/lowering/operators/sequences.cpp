// Handlers of operators on sequences of tensors (SequenceConstruct, SequenceInsert, SplitToSequence
// and others). A sequence exists only in the lowering, as a list of values
// (GraphBuilder::add_sequence()), so its length and all positions must be known. Sequences that
// loops carry are at run time instead (loops/carried_sequences.h).
#include <fmt/format.h>

#include <algorithm>

#include "lowering/evaluate/constant_data.h"
#include "lowering/operators/handlers.h"

namespace millrace::lowering {
namespace {

using graph::Dims;
using Members = std::vector<ValueId>;

// The maximum number of parts into which SplitToSequence divides: a hostile model may state a
// dimension, or a number of parts, of any size.
constexpr int64_t kMostParts = 4095;

Status check_length(int64_t members) {
  if (members <= kMostParts) return {};
  return unsupported(
      fmt::format("a sequence of more than {} tensors is not supported", kMostParts));
}

// Returns the position that operand `index` states in a sequence of `count` tensors. A negative one
// counts from the end; if the operand is left out, it is the last position.
Result<size_t> position_of(NodeImport& node, size_t index, size_t count) {
  const auto size = static_cast<int64_t>(count);
  int64_t position = -1;
  if (node.has(index)) {
    MILLRACE_ASSIGN_OR_RETURN(const Dims stated, node.constant_ints(index));
    if (stated.size() != 1) return invalid_argument("its position must be one integer");
    position = stated[0];
  }
  if (position < -size || position >= size)
    return invalid_argument(
        fmt::format("its position {} is out of range for {} tensors", position, size));
  return static_cast<size_t>(position < 0 ? position + size : position);
}

// Inserts a dimension of 1 at `axis`.
Result<ValueId> with_axis(NodeImport& node, ValueId x, size_t axis) {
  Dims shape = node.builder().value(x).shape;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  return node.reshape(x, std::move(shape));
}

// Removes dimension `axis`, which must be 1.
Result<ValueId> without_axis(NodeImport& node, ValueId x, size_t axis) {
  Dims shape = node.builder().value(x).shape;
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  return node.reshape(x, std::move(shape));
}

// Returns the sizes of the parts into which SplitToSequence divides a dimension of `size`: operand
// 1 is a list of sizes, or one size for all parts but the last; the default is 1.
Result<Dims> parts_of(NodeImport& node, int64_t size) {
  Dims parts;
  int64_t each = 1;
  if (node.has(1)) {
    MILLRACE_RETURN_IF_ERROR(check_length(static_cast<int64_t>(node.value(1).elements())));
    MILLRACE_ASSIGN_OR_RETURN(parts, node.constant_ints(1));
    if (node.shape(1).size() == 1) return parts;
    if (parts.size() != 1 || parts[0] < 1)
      return invalid_argument("its split must be a positive integer");
    each = parts[0];
    parts.clear();
  }
  MILLRACE_RETURN_IF_ERROR(check_length(size / each + (size % each == 0 ? 0 : 1)));
  for (int64_t begin = 0; begin < size; begin += each)
    parts.push_back(std::min(each, size - begin));
  return parts;
}

}  // namespace

Result<ValueId> import_sequence_empty(NodeImport& node) {
  return node.add_sequence({});
}

Result<ValueId> import_sequence_construct(NodeImport& node) {
  return node.add_sequence(node.operands());
}

Result<ValueId> import_sequence_at(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const Members members, node.sequence(0));
  MILLRACE_ASSIGN_OR_RETURN(const size_t position, position_of(node, 1, members.size()));
  return members[position];
}

Result<ValueId> import_sequence_erase(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(Members members, node.sequence(0));
  MILLRACE_ASSIGN_OR_RETURN(const size_t position, position_of(node, 1, members.size()));
  members.erase(members.begin() + static_cast<std::ptrdiff_t>(position));
  return node.add_sequence(std::move(members));
}

// The default position is the end of the sequence; a negative one counts from the end.
Result<ValueId> import_sequence_insert(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(Members members, node.sequence(0));
  size_t position = members.size();
  if (node.has(2)) {
    MILLRACE_ASSIGN_OR_RETURN(const Dims stated, node.constant_ints(2));
    const bool is_end = stated.size() == 1 && stated[0] == static_cast<int64_t>(members.size());
    if (!is_end) {
      MILLRACE_ASSIGN_OR_RETURN(position, position_of(node, 2, members.size()));
    }
  }
  members.insert(members.begin() + static_cast<std::ptrdiff_t>(position), node.operand(1));
  return node.add_sequence(std::move(members));
}

Result<ValueId> import_sequence_length(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const Members members, node.sequence(0));
  MILLRACE_ASSIGN_OR_RETURN(MutableConstant length, make_constant(tensor::DataType::kInt64, {}));
  length.as<int64_t>()[0] = static_cast<int64_t>(members.size());
  return node.add_computed(std::move(length.value));
}

Result<ValueId> import_concat_from_sequence(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(Members members, node.sequence(0));
  if (members.empty()) return invalid_argument("its sequence is empty");
  const bool is_new = node.int_attribute("new_axis", 0) != 0;
  if (is_new) MILLRACE_RETURN_IF_ERROR(node.builder().take_members(members.size()));
  const size_t rank = node.builder().value(members[0]).shape.size() + (is_new ? 1 : 0);
  MILLRACE_ASSIGN_OR_RETURN(const size_t axis, normalise_axis(node.int_attribute("axis", 0), rank));
  for (ValueId& member : members) {
    if (!is_new) continue;
    if (node.builder().value(member).shape.size() + 1 != rank)
      return invalid_argument("the tensors of its sequence differ in rank");
    MILLRACE_ASSIGN_OR_RETURN(member, with_axis(node, member, axis));
  }
  return node.emit(graph::Concat{static_cast<int64_t>(axis)}, std::move(members));
}

Result<ValueId> import_split_to_sequence(NodeImport& node) {
  const Dims shape = node.shape(0);
  MILLRACE_ASSIGN_OR_RETURN(const size_t axis,
                            normalise_axis(node.int_attribute("axis", 0), shape.size()));
  MILLRACE_ASSIGN_OR_RETURN(const Dims parts, parts_of(node, shape[axis]));
  MILLRACE_RETURN_IF_ERROR(node.builder().take_members(parts.size()));
  const bool drops_axis = !node.has(1) && node.int_attribute("keepdims", 1) == 0;
  Members members;
  int64_t begin = 0;
  for (const int64_t size : parts) {
    if (size < 0 || size > shape[axis] - begin)
      return invalid_argument(fmt::format("its parts {} do not fit into the dimension of {}",
                                          graph::to_string(parts), shape[axis]));
    graph::Slice slice{Dims(shape.size(), 0), shape, Dims(shape.size(), 1)};
    slice.begin[axis] = begin;
    slice.size[axis] = size;
    MILLRACE_ASSIGN_OR_RETURN(ValueId part, node.emit(std::move(slice), {node.operand(0)}));
    if (drops_axis) {
      MILLRACE_ASSIGN_OR_RETURN(part, without_axis(node, part, axis));
    }
    members.push_back(part);
    begin += size;
  }
  if (begin != shape[axis]) return invalid_argument("its parts do not add up to the dimension");
  return node.add_sequence(std::move(members));
}

}  // namespace millrace::lowering
