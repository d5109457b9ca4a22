// A slice along one dimension of a moved tensor equals a slice along some dimension of its source,
// if the movement keeps the range contiguous. A Transpose maps the dimension. A Reshape maps it to
// the dimension of the source with the same number of elements before it, if the sizes after both
// are compatible. The transformation runs until nothing changes, since one movement may follow
// another.
#include "compiler/shard/hoist_slices.h"

#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowering/passes/edit.h"

namespace millrace::compiler {
namespace {

using graph::Dims;
using graph::Graph;
using graph::Node;
using graph::Slice;
using graph::ValueId;
using lowering::Editor;

// Consecutive indices of one dimension.
struct Range {
  size_t dimension = 0;
  int64_t begin = 0, size = 0;
};

int64_t product(Dims::const_iterator begin, Dims::const_iterator end) {
  return std::accumulate(begin, end, int64_t{1}, std::multiplies<>());
}

// Returns the range that a slice takes; nothing if it cuts several dimensions or has a step.
std::optional<Range> range_of(const Slice& slice, const Dims& shape) {
  std::optional<Range> range;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (slice.size[i] == shape[i] && slice.step[i] == 1) continue;
    if (range || slice.step[i] != 1) return std::nullopt;
    range = Range{i, slice.begin[i], slice.size[i]};
  }
  return range;
}

// Returns the range of the same elements before a Reshape from `from` to `to`; nothing if they are
// not a range of one dimension there.
std::optional<Range> before_reshape(const Range& range, const Dims& from, const Dims& to) {
  const auto at = to.begin() + static_cast<ptrdiff_t>(range.dimension);
  const int64_t outer = product(to.begin(), at), inner = product(at + 1, to.end());
  for (auto dim = from.begin(); dim != from.end(); ++dim) {
    if (*dim == 1 || product(from.begin(), dim) != outer) continue;
    const int64_t own_inner = product(dim + 1, from.end());
    if (inner % own_inner != 0) return std::nullopt;
    const int64_t each = inner / own_inner;
    return Range{static_cast<size_t>(dim - from.begin()), range.begin * each, range.size * each};
  }
  return std::nullopt;
}

// Returns the index in a constant of one INT64 element.
std::optional<int64_t> index_of(const graph::Value& value) {
  if (!value.constant || value.type != tensor::DataType::kInt64 || value.elements() != 1)
    return std::nullopt;
  return value.constant->as<int64_t>().front();
}

class Hoisting {
 public:
  explicit Hoisting(Graph& graph) : readers_(graph::consumers_of(graph)), editor_(graph) {}

  // Runs over all nodes once; returns whether anything has changed.
  bool run() {
    bool changed = false;
    for (const Editor::Index index : editor_.nodes()) changed = hoist_over(index) || changed;
    editor_.finish();
    return changed;
  }

 private:
  const Dims& shape(ValueId id) const { return editor_.value(id).shape; }

  // Returns the part of `moved` that a Slice, or a Gather of one index, takes.
  std::optional<Range> part_of(ValueId moved, const Node& reader) const {
    if (reader.inputs[0] != moved) return std::nullopt;
    const Dims& whole = shape(moved);
    if (const auto* slice = std::get_if<Slice>(&reader.op)) return range_of(*slice, whole);
    const auto* gather = std::get_if<graph::Gather>(&reader.op);
    if (gather == nullptr) return std::nullopt;
    const std::optional<int64_t> index = index_of(editor_.value(reader.inputs[1]));
    if (!index) return std::nullopt;
    const auto axis = static_cast<size_t>(gather->axis);
    const int64_t begin = *index < 0 ? *index + whole[axis] : *index;
    if (begin < 0 || begin >= whole[axis]) return std::nullopt;
    return Range{axis, begin, 1};
  }

  // Returns the range in the operand of the movement that becomes `range` of its result.
  std::optional<Range> before(const Node& moving, const Range& range) const {
    if (const auto* transpose = std::get_if<graph::Transpose>(&moving.op))
      return Range{static_cast<size_t>(transpose->permutation[range.dimension]), range.begin,
                   range.size};
    if (!std::holds_alternative<graph::Reshape>(moving.op)) return std::nullopt;
    return before_reshape(range, shape(moving.inputs[0]), shape(moving.outputs[0]));
  }

  // Hoists all readers of a movement over it, or none.
  bool hoist_over(Editor::Index index) {
    const Node moving = editor_.node(index);
    if (!std::holds_alternative<graph::Transpose>(moving.op) &&
        !std::holds_alternative<graph::Reshape>(moving.op))
      return false;
    const std::vector<uint32_t>& readers = readers_[moving.outputs[0]];
    if (readers.size() < 2 || editor_.is_graph_output(moving.outputs[0]) ||
        editor_.value(moving.inputs[0]).elements() == 0 || editor_.value(moving.inputs[0]).constant)
      return false;
    std::vector<std::pair<Range, Range>> ranges;  // after the movement, and before it
    for (const uint32_t reader : readers) {
      const auto after = part_of(moving.outputs[0], editor_.node(reader));
      const auto earlier = after ? before(moving, *after) : std::nullopt;
      if (!earlier) return false;
      ranges.emplace_back(*after, *earlier);
    }
    for (size_t i = 0; i < readers.size(); ++i)
      hoist(moving, readers[i], ranges[i].first, ranges[i].second);
    return true;
  }

  // Replaces the reader by a Slice of the source, the movement of that part, and a Reshape if a
  // Gather drops the dimension.
  void hoist(const Node& moving, Editor::Index reader, const Range& after, const Range& earlier) {
    const ValueId source = moving.inputs[0], result = editor_.node(reader).outputs[0];
    const std::string name = editor_.node(reader).name;
    Slice slice{Dims(shape(source).size()), shape(source), Dims(shape(source).size(), 1)};
    slice.begin[earlier.dimension] = earlier.begin;
    slice.size[earlier.dimension] = earlier.size;
    const ValueId part = add_value(source, ".part", slice.size);
    editor_.insert_before(reader, {name + ".part", slice, {source}, {part}});
    if (std::holds_alternative<graph::Reshape>(moving.op))
      return become(reader, graph::Reshape{shape(result)}, part);
    Dims moved = shape(moving.outputs[0]);
    moved[after.dimension] = after.size;
    if (moved == shape(result)) return become(reader, moving.op, part);
    const ValueId whole = add_value(result, ".moved", std::move(moved));
    editor_.insert_before(reader, {name + ".moved", moving.op, {part}, {whole}});
    become(reader, graph::Reshape{shape(result)}, whole);
  }

  void become(Editor::Index reader, graph::Operator op, ValueId operand) {
    editor_.node(reader).op = std::move(op);
    editor_.set_inputs(reader, {operand});
  }

  ValueId add_value(ValueId like, const char* suffix, Dims dims) {
    graph::Value value = editor_.value(like);
    value.name += suffix;
    value.shape = std::move(dims);
    return editor_.graph().add_value(std::move(value));
  }

  const std::vector<std::vector<uint32_t>> readers_;  // by value, before any change
  Editor editor_;
};

}  // namespace

void hoist_slices(Graph& graph) {
  while (Hoisting(graph).run()) {
  }
}

}  // namespace millrace::compiler
