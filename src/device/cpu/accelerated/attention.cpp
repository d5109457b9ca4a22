// Attention, by loops that take a block of keys at a time (attention/loops.h).
//
// Operands are read as they lie, as part of a larger tensor too; the result is laid out for the
// Transpose that follows and joins the heads.
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/align.h"
#include "device/cpu/accelerated/accelerated.h"
#include "device/cpu/accelerated/attention/loops.h"
#include "device/cpu/accelerated/attention/matrices.h"
#include "device/cpu/builder/operands.h"
#include "device/cpu/steps/parts.h"
#include "graph/operators.h"

namespace millrace::device::cpu::accelerated {
namespace {

using attention::BiasRows;
using attention::Matrices;
using attention::matrices_of;
using attention::Rows;
using graph::ValueId;

constexpr size_t kQuery = 0, kKey = 1, kValue = 2, kBias = 3;

// A matrix of a tensor is numbered by its leading dimensions, in C order.
struct Shape {
  Dims leading;
  size_t queries, keys, depth, size;
};

Shape shape_of(const fallback::NodeView& view) {
  const auto query = view.in(kQuery).dims, value = view.in(kValue).dims;
  const auto from_end = [](std::span<const int64_t> dims, size_t back) {
    return static_cast<size_t>(dims[dims.size() - back]);
  };
  return {Dims(query.begin(), query.end() - 2), from_end(query, 2), from_end(value, 2),
          from_end(query, 1), from_end(value, 1)};
}

struct Operands {
  Matrices query, key, value;
  std::optional<Matrices> bias;
  // In place of a bias that is a causal mask: how many keys the first query sees.
  std::optional<size_t> seen_by_first;
  Matrices to;
  BufferId scratch;
};

// The queries of a matrix are divided into blocks of almost the same size.
struct Division {
  size_t matrices, blocks;  // blocks of each matrix
  uint32_t parts;
  size_t scratch;  // elements of each part
};

class AttentionStep final : public Step {
 public:
  AttentionStep(Shape shape, Operands operands, const Division& division, float scale)
      : shape_(std::move(shape)),
        operands_(std::move(operands)),
        division_(division),
        scale_(scale) {}

  std::vector<BufferId> buffers() const override {
    std::vector<BufferId> ids = {operands_.query.buffer, operands_.key.buffer,
                                 operands_.value.buffer, operands_.to.buffer, operands_.scratch};
    if (operands_.bias) ids.push_back(operands_.bias->buffer);
    return ids;
  }

  Status run(const RunState& state) const noexcept override {
    run_parts(state, division_.parts, [&](uint32_t number) {
      float* const scratch = state.output<float>(operands_.scratch) + number * division_.scratch;
      const Share share = share_of(division_.matrices * division_.blocks, number, division_.parts);
      for (size_t i = share.first; i < share.first + share.count; ++i)
        attention::attend(block_at(state, i / division_.blocks, i % division_.blocks, scratch));
    });
    return {};
  }

 private:
  Rows rows_of(const RunState& state, const Matrices& operand, size_t matrix, size_t first) const {
    const size_t step = operand.row_step();
    const float* const from = state.input<float>(operand.buffer);
    return {from + operand.offset_of(matrix, shape_.leading) + first * step, step};
  }

  BiasRows bias_of(const RunState& state, size_t matrix, size_t first) const {
    if (!operands_.bias) return {nullptr, 0, 0};
    const Rows rows = rows_of(state, *operands_.bias, matrix, first);
    return {rows.at, rows.step, operands_.bias->element_step()};
  }

  // Returns what the queries from `first` on see.
  attention::Seen seen_from(size_t first) const {
    attention::Seen seen;
    if (operands_.seen_by_first) {
      seen.end = *operands_.seen_by_first + first;
      seen.later = 1;
    }
    return seen;
  }

  attention::Block block_at(const RunState& state, size_t matrix, size_t number,
                            float* scratch) const {
    const Share queries = share_of(shape_.queries, static_cast<uint32_t>(number),
                                   static_cast<uint32_t>(division_.blocks));
    const Matrices& to = operands_.to;
    return {.query = rows_of(state, operands_.query, matrix, queries.first),
            .key = rows_of(state, operands_.key, matrix, 0),
            .value = rows_of(state, operands_.value, matrix, 0),
            .bias = bias_of(state, matrix, queries.first),
            .sinks = {},
            .seen = seen_from(queries.first),
            .scale = scale_,
            .queries = queries.count,
            .keys = shape_.keys,
            .depth = shape_.depth,
            .size = shape_.size,
            .to = state.output<float>(to.buffer) + to.offset_of(matrix, shape_.leading) +
                  queries.first * to.row_step(),
            .to_step = to.row_step(),
            .scratch = scratch};
  }

  const Shape shape_;
  const Operands operands_;
  const Division division_;
  const float scale_;
};

// A bias in C order that is broadcast to scores of that rank: strides are 0 along the dimensions
// that it has not, or once.
Matrices broadcast_bias(const Operand& operand, std::span<const int64_t> given, size_t rank) {
  Dims dims(rank, 1);
  std::copy(given.begin(), given.end(), dims.end() - static_cast<ptrdiff_t>(given.size()));
  Matrices bias{operand.buffer, 0, Dims(rank)};
  int64_t stride = 1;
  for (size_t i = rank; i-- > 0; stride *= dims[i]) bias.strides[i] = dims[i] == 1 ? 0 : stride;
  return bias;
}

// Returns how many keys the first query sees, if the bias is a constant that does no more than hide
// from each query the keys after the one that it ends with, which is one further for each query.
std::optional<size_t> seen_by_first_query(const Builder& builder, ValueId id, const Shape& shape) {
  const std::span<const int64_t> dims = builder.value(id).shape;
  if (!builder.is_constant(id) || dims.size() < 2 ||
      dims[dims.size() - 2] != static_cast<int64_t>(shape.queries) ||
      builder.value(id).elements() != shape.queries * shape.keys)
    return std::nullopt;
  const std::vector<float> bias = builder.constant_floats(id);
  const auto hides = [](float element) { return element <= std::numeric_limits<float>::lowest(); };
  const auto seen =
      static_cast<size_t>(std::find_if(bias.begin(), bias.end(), hides) - bias.begin());
  if (seen == 0) return std::nullopt;
  for (size_t i = 0; i < bias.size(); ++i) {
    const bool is_hidden = i % shape.keys >= seen + i / shape.keys;
    if (is_hidden ? !hides(bias[i]) : bias[i] != 0) return std::nullopt;
  }
  return seen;
}

Division division_of(const Shape& shape, uint32_t chunks) {
  Division division{1, ceil_div(shape.queries, attention::kMostQueries), 1,
                    attention::scratch_elements(shape.queries, shape.depth, shape.size)};
  for (const int64_t dim : shape.leading) division.matrices *= static_cast<size_t>(dim);
  division.parts = parts_with_scratch(chunks, division.scratch * sizeof(float));
  // Matrices that are fewer than the parts are divided further, but not into blocks of so few
  // queries that each copies the keys for little.
  constexpr size_t kFewestQueries = 32;
  const size_t wanted = ceil_div<size_t>(division.parts, division.matrices);
  division.blocks = std::max(division.blocks, std::min(wanted, shape.queries / kFewestQueries));
  return division;
}

}  // namespace

Result<bool> lower_attention(Builder& builder, const AcceleratedNode& node) {
  Shape shape = shape_of(node.view);
  Operands operands;
  MILLRACE_ASSIGN_OR_RETURN(operands.query, matrices_of(builder, node.input(kQuery)));
  MILLRACE_ASSIGN_OR_RETURN(operands.key, matrices_of(builder, node.input(kKey)));
  MILLRACE_ASSIGN_OR_RETURN(operands.value, matrices_of(builder, node.input(kValue)));
  if (node.view.has(kBias))
    operands.seen_by_first = seen_by_first_query(builder, node.input(kBias), shape);
  if (node.view.has(kBias) && !operands.seen_by_first) {
    MILLRACE_ASSIGN_OR_RETURN(const Operand bias, plain_operand(builder, node.input(kBias)));
    operands.bias = broadcast_bias(bias, node.view.in(kBias).dims, shape.leading.size() + 2);
  }
  const Division division = division_of(shape, builder.chunks());
  const auto scratch = static_cast<int64_t>(division.parts * division.scratch);
  operands.scratch = builder.new_temporary(plain_desc({scratch}, ElementType::f32)).buffer;
  const ValueId id = node.node.outputs[0];
  const Operand y = result_as(builder, id, attention::result_form(builder, id));
  operands.to = matrices_of(y);
  builder.add("Attention", "millrace:vectors",
              std::make_unique<AttentionStep>(std::move(shape), std::move(operands), division,
                                              node.view.real("scale", 1)));
  finish_result(builder, id, y);
  return true;
}

}  // namespace millrace::device::cpu::accelerated
