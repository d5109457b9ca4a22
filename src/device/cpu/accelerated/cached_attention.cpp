// Attention over buffers of keys and values of which each sequence has filled a part, by the loops
// of attention/loops.h. Keys and values are read where they lie, and none after the end of their
// sequence.
//
// With one token for each sequence, the query heads that share a group of keys are the queries of
// one block, so that the keys are read once. With more tokens these are the queries of a block, and
// each head has blocks of its own.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/align.h"
#include "device/cpu/accelerated/accelerated.h"
#include "device/cpu/accelerated/attention/loops.h"
#include "device/cpu/accelerated/attention/matrices.h"
#include "device/cpu/steps/parts.h"
#include "graph/reference/cached_keys.h"

namespace millrace::device::cpu::accelerated {
namespace {

using attention::Matrices;
using attention::matrices_of;
using graph::reference::CachedKeys;
using graph::reference::SeenKeys;

constexpr size_t kQueryHeads = 0, kKeyBuffer = 1, kValueBuffer = 2, kLengthsOfKeys = 3,
                 kSinkScores = 4;

struct CacheShape {
  size_t batch, heads, groups, depth, size;
  CachedKeys keys;

  size_t tokens() const { return static_cast<size_t>(keys.queries); }
  // Whether the rows of a block are heads, not tokens.
  bool has_rows_of_heads() const { return keys.queries == 1; }
  size_t heads_of_group() const { return heads / groups; }
  // The rows that blocks divide among them, and how many times there are such rows.
  size_t rows() const { return has_rows_of_heads() ? heads_of_group() : tokens(); }
  size_t matrices() const { return batch * (has_rows_of_heads() ? groups : heads); }
};

struct CacheOperands {
  Matrices query, key, value, to;
  BufferId lengths = 0, sinks = 0, scratch = 0;
  bool has_sinks = false;
};

struct CacheDivision {
  size_t blocks = 1;  // of the rows of a matrix, of almost the same size
  uint32_t parts = 1;
  size_t scratch = 0;  // elements of each part
};

// A place in the batch, and the first head, token and number of the rows of a block.
struct BlockPlace {
  size_t batch, head, group, token, rows;
};

class CachedAttentionStep final : public Step {
 public:
  CachedAttentionStep(const CacheShape& shape, CacheOperands operands,
                      const CacheDivision& division, float scale)
      : shape_(shape), operands_(std::move(operands)), division_(division), scale_(scale) {}

  std::vector<BufferId> buffers() const override {
    std::vector<BufferId> ids = {operands_.query.buffer, operands_.key.buffer,
                                 operands_.value.buffer, operands_.to.buffer,
                                 operands_.lengths,      operands_.scratch};
    if (operands_.has_sinks) ids.push_back(operands_.sinks);
    return ids;
  }

  Status run(const RunState& state) const noexcept override {
    run_parts(state, division_.parts, [&](uint32_t number) {
      float* const scratch = state.output<float>(operands_.scratch) + number * division_.scratch;
      const Share share = share_of(shape_.matrices() * division_.blocks, number, division_.parts);
      for (size_t i = share.first; i < share.first + share.count; ++i)
        attend_rows(state, place_of(i / division_.blocks, i % division_.blocks), scratch);
    });
    return {};
  }

 private:
  BlockPlace place_of(size_t matrix, size_t block) const {
    const Share rows = share_of(shape_.rows(), static_cast<uint32_t>(block),
                                static_cast<uint32_t>(division_.blocks));
    const size_t in_batch = shape_.matrices() / shape_.batch;
    const size_t batch = matrix / in_batch, number = matrix % in_batch;
    if (shape_.has_rows_of_heads())
      return {batch, number * shape_.heads_of_group() + rows.first, number, 0, rows.count};
    return {batch, number, number / shape_.heads_of_group(), rows.first, rows.count};
  }

  // The offset of a row of a tensor [batch, heads or groups, tokens or keys, elements].
  static size_t offset_of(const Matrices& operand, size_t batch, size_t head, size_t row) {
    return operand.offset + batch * static_cast<size_t>(operand.strides[0]) +
           head * static_cast<size_t>(operand.strides[1]) + row * operand.row_step();
  }

  size_t step_of_rows(const Matrices& operand) const {
    return shape_.has_rows_of_heads() ? static_cast<size_t>(operand.strides[1])
                                      : operand.row_step();
  }

  void attend_rows(const RunState& state, BlockPlace place, float* scratch) const {
    const int64_t length = state.input<int64_t>(operands_.lengths)[place.batch];
    const auto seen_by = [&](size_t row) {
      const size_t token = place.token + (shape_.has_rows_of_heads() ? 0 : row);
      return shape_.keys.seen_by(static_cast<int64_t>(token), length);
    };
    const Matrices& result = operands_.to;
    const size_t to_step = step_of_rows(result);
    float* const to = state.output<float>(result.buffer) +
                      offset_of(result, place.batch, place.head, place.token);
    size_t without_keys = 0;
    for (; without_keys < place.rows && seen_by(without_keys).empty(); ++without_keys)
      std::fill_n(to + without_keys * to_step, shape_.size, 0.0f);
    if (without_keys == place.rows) return;
    const SeenKeys first = seen_by(without_keys), last = seen_by(place.rows - 1);
    const auto begin = static_cast<size_t>(first.begin);
    const auto rows_of = [&](const Matrices& operand, size_t head, size_t row, size_t step) {
      return attention::Rows{
          state.input<float>(operand.buffer) + offset_of(operand, place.batch, head, row), step};
    };
    const size_t query_step = step_of_rows(operands_.query);
    attention::Rows query = rows_of(operands_.query, place.head, place.token, query_step);
    query.at += without_keys * query_step;
    attention::attend(
        {.query = query,
         .key = rows_of(operands_.key, place.group, begin, operands_.key.row_step()),
         .value = rows_of(operands_.value, place.group, begin, operands_.value.row_step()),
         .bias = {nullptr, 0, 0},
         .sinks = sinks_of(state, place.head),
         .seen = seen_from(begin, first),
         .scale = scale_,
         .queries = place.rows - without_keys,
         .keys = static_cast<size_t>(last.end) - begin,
         .depth = shape_.depth,
         .size = shape_.size,
         .to = to + without_keys * to_step,
         .to_step = to_step,
         .scratch = scratch});
  }

  attention::Sinks sinks_of(const RunState& state, size_t head) const {
    if (!operands_.has_sinks) return {};
    return {state.input<float>(operands_.sinks) + head, shape_.has_rows_of_heads() ? size_t{1} : 0};
  }

  // Keys are counted from `begin` on.
  attention::Seen seen_from(size_t begin, const SeenKeys& first) const {
    attention::Seen seen;
    seen.end = static_cast<size_t>(first.end) - begin;
    seen.later = shape_.keys.is_causal && !shape_.has_rows_of_heads() ? 1 : 0;
    if (shape_.keys.window >= 0) seen.window = static_cast<size_t>(shape_.keys.window);
    return seen;
  }

  const CacheShape shape_;
  const CacheOperands operands_;
  const CacheDivision division_;
  const float scale_;
};

CacheShape cache_shape_of(const fallback::NodeView& view) {
  const auto query = view.in(kQueryHeads).dims, key = view.in(kKeyBuffer).dims;
  const auto at = [](std::span<const int64_t> dims, size_t index) {
    return static_cast<size_t>(dims[index]);
  };
  return {at(query, 0),
          at(query, 1),
          at(key, 1),
          at(query, 3),
          at(view.in(kValueBuffer).dims, 3),
          {.queries = query[2],
           .capacity = key[2],
           .window = view.integer("window", -1),
           .is_causal = view.integer("causal", 1) != 0}};
}

CacheDivision cache_division_of(const CacheShape& shape, uint32_t chunks) {
  CacheDivision division;
  division.blocks = ceil_div(shape.rows(), attention::kMostQueries);
  division.scratch = attention::scratch_elements(shape.rows(), shape.depth, shape.size);
  division.parts = parts_with_scratch(chunks, division.scratch * sizeof(float));
  // As for other attention: blocks of few tokens would copy the keys for little.
  constexpr size_t kFewestTokens = 32;
  const size_t wanted = ceil_div<size_t>(division.parts, shape.matrices());
  division.blocks = std::max(division.blocks, std::min(wanted, shape.rows() / kFewestTokens));
  return division;
}

}  // namespace

Result<bool> lower_cached_attention(Builder& builder, const AcceleratedNode& node) {
  const CacheShape shape = cache_shape_of(node.view);
  if (shape.matrices() * shape.tokens() * shape.size == 0) return false;
  CacheOperands operands;
  MILLRACE_ASSIGN_OR_RETURN(operands.query, matrices_of(builder, node.input(kQueryHeads)));
  MILLRACE_ASSIGN_OR_RETURN(operands.key, matrices_of(builder, node.input(kKeyBuffer)));
  MILLRACE_ASSIGN_OR_RETURN(operands.value, matrices_of(builder, node.input(kValueBuffer)));
  MILLRACE_ASSIGN_OR_RETURN(const Operand lengths,
                            plain_operand(builder, node.input(kLengthsOfKeys)));
  operands.lengths = lengths.buffer;
  operands.has_sinks = node.view.has(kSinkScores);
  if (operands.has_sinks) {
    MILLRACE_ASSIGN_OR_RETURN(const Operand sinks, plain_operand(builder, node.input(kSinkScores)));
    operands.sinks = sinks.buffer;
  }
  const CacheDivision division = cache_division_of(shape, builder.chunks());
  const auto scratch = static_cast<int64_t>(division.parts * division.scratch);
  operands.scratch = builder.new_temporary(plain_desc({scratch}, ElementType::f32)).buffer;
  const graph::ValueId id = node.node.outputs[0];
  const Operand y = result_as(builder, id, attention::result_form(builder, id));
  operands.to = matrices_of(y);
  builder.add("CachedAttention", "millrace:vectors",
              std::make_unique<CachedAttentionStep>(shape, std::move(operands), division,
                                                    node.view.real("scale", 1)));
  finish_result(builder, id, y);
  return true;
}

}  // namespace millrace::device::cpu::accelerated
