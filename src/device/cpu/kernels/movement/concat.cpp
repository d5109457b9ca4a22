// Concat. If the layout allows, the memory of an input becomes a part of that of the result, so
// that nothing is copied. Other inputs are copied there.
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "device/cpu/kernels/kernels.h"
#include "device/cpu/kernels/movement/concat.h"
#include "device/cpu/kernels/primitives.h"

namespace millrace::device::cpu::kernels {
namespace {

using graph::ValueId;

class Joining {
 public:
  Joining(Builder& builder, ValueId y, const std::vector<ValueId>& inputs,
          const std::vector<Operand>& locations, size_t axis, ElementType type)
      : builder_(builder),
        inputs_(inputs),
        locations_(locations),
        y_(y),
        axis_(axis),
        type_(type) {}

  Operand join() {
    const Operand y = builder_.new_temporary(choose_layout());
    Dims offset(builder_.dims(y_).size(), 0);
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const Dims dims = builder_.dims(inputs_[i]);
      const Desc part = y.desc.submemory_desc(dims, offset);
      if (!produce_in_place(locations_[i], y.buffer, part))
        builder_.add_reorder(y_, locations_[i], {y.buffer, part});
      offset[axis_] += dims[axis_];
    }
    return y;
  }

 private:
  // Returns the layout of an input if it can be cut where the inputs meet, otherwise a plain one.
  Desc choose_layout() const {
    const Dims dims = builder_.dims(y_);
    for (const Operand& location : locations_)
      if (const Desc layout = dense_like(location.desc, dims); can_be_cut(layout)) return layout;
    return plain_desc(dims, type_);
  }

  bool can_be_cut(const Desc& layout) const {
    Dims offset(builder_.dims(y_).size(), 0);
    for (ValueId id : inputs_) {
      const Dims dims = builder_.dims(id);
      if (!submemory(layout, dims, offset)) return false;
      offset[axis_] += dims[axis_];
    }
    return true;
  }

  // Makes the memory of the input a part of the result's, if it holds nothing but the input. The
  // input may be the first channels of a larger value.
  bool produce_in_place(const Operand& input, BufferId whole, const Desc& part) {
    BufferTable& buffers = builder_.buffers();
    if (!buffers.may_move(input.buffer) || !is_dense(input.desc)) return false;
    if (!have_same_strides(input.desc, part)) return false;
    if (buffers.bytes(input.buffer) != input.desc.get_size()) return false;
    const size_t element = dnnl::memory::data_type_size(type_);
    buffers.place_inside(input.buffer, whole, static_cast<size_t>(start_of(part)) * element);
    return true;
  }

  Builder& builder_;
  const std::vector<ValueId>& inputs_;
  const std::vector<Operand>& locations_;
  const ValueId y_;
  const size_t axis_;
  const ElementType type_;
};

Status lower_floating(Builder& builder, const Node& node, size_t axis) {
  const std::vector<ValueId> inputs = non_empty_inputs(builder, node);
  std::vector<Operand> locations;
  for (const ValueId id : inputs) {
    MILLRACE_ASSIGN_OR_RETURN(locations.emplace_back(), builder.current(id));
  }
  const ValueId y = node.outputs[0];
  builder.set_result(y, join(builder, y, inputs, locations, axis, builder.type()));
  return {};
}

// Concat of integers: plain pieces, copied row by row.
class PlainConcatStep final : public Step {
 public:
  struct Piece {
    BufferId buffer;
    size_t bytes;  // per row
  };
  PlainConcatStep(std::vector<Piece> pieces, size_t rows, BufferId to)
      : pieces_(std::move(pieces)), rows_(rows), to_(to) {}
  std::vector<BufferId> buffers() const override {
    std::vector<BufferId> ids = {to_};
    for (const Piece& piece : pieces_) ids.push_back(piece.buffer);
    return ids;
  }
  Status run(const RunState& state) const noexcept override {
    std::byte* to = state.buffers[to_];
    for (size_t row = 0; row < rows_; ++row)
      for (const Piece& piece : pieces_) {
        std::memcpy(to, state.buffers[piece.buffer] + row * piece.bytes, piece.bytes);
        to += piece.bytes;
      }
    return {};
  }

 private:
  std::vector<Piece> pieces_;
  size_t rows_;
  BufferId to_;
};

Status lower_plain(Builder& builder, const Node& node, size_t axis) {
  const ValueId y = node.outputs[0];
  size_t rows = 1;
  for (size_t i = 0; i < axis; ++i) rows *= static_cast<size_t>(builder.dims(y)[i]);
  std::vector<PlainConcatStep::Piece> pieces;
  for (const ValueId id : non_empty_inputs(builder, node)) {
    MILLRACE_ASSIGN_OR_RETURN(const Operand location, builder.plain(id));
    pieces.push_back({location.buffer, builder.value(id).bytes() / rows});
  }
  const Operand to = builder.new_result(y, builder.plain_layout(y));
  builder.add("Concat", "millrace:concat",
              std::make_unique<PlainConcatStep>(std::move(pieces), rows, to.buffer));
  return {};
}

}  // namespace

std::vector<ValueId> non_empty_inputs(const Builder& builder, const Node& node) {
  std::vector<ValueId> inputs;
  for (const ValueId id : node.inputs)
    if (!builder.is_empty(id)) inputs.push_back(id);
  return inputs;
}

Operand join(Builder& builder, ValueId y, const std::vector<ValueId>& inputs,
             const std::vector<Operand>& locations, size_t axis, ElementType type) {
  return Joining(builder, y, inputs, locations, axis, type).join();
}

Status lower(Builder& builder, const Node& node, const graph::Concat& op) {
  const auto axis = static_cast<size_t>(op.axis);
  if (!builder.is_floating(node.outputs[0])) return lower_plain(builder, node, axis);
  return lower_floating(builder, node, axis);
}

}  // namespace millrace::device::cpu::kernels
