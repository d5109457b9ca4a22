// Attention: two products of oneDNN with a softmax between them, for as many queries at a time
// as have scores that stay in the cache.
//
// Operands are read as they lie, transposed or part of a larger tensor; the result is laid out for
// the Transpose that joins the heads behind it.
#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "device/cpu/accelerated/accelerated.h"
#include "device/cpu/builder/operands.h"
#include "device/cpu/dnnl/product.h"
#include "device/cpu/dnnl/traits.h"
#include "device/cpu/kernels/primitives.h"

namespace millrace::device::cpu::accelerated {
namespace {

using graph::kNoValue;
using graph::ValueId;
using kernels::Choice;
using Product = dnnl::matmul::primitive_desc;

constexpr size_t kQuery = 0, kKey = 1, kValue = 2, kBias = 3;
// Size of the scores of a block: about that of the L2 cache. Fewer rows at a time read the keys
// and values too often.
constexpr int64_t kBlockBytes = int64_t{1} << 21;
constexpr int64_t kFewestRows = 16;

// A matrix of a tensor is numbered by its leading dimensions, in C order.
struct Shape {
  Dims leading;
  int64_t queries, keys, depth, size;

  size_t rank() const { return leading.size() + 2; }
  Dims with(int64_t rows, int64_t columns) const {
    Dims dims = leading;
    dims.push_back(rows);
    dims.push_back(columns);
    return dims;
  }
};

// The part of the scores that is computed at a time: `rows` queries of some matrices, those of the
// last leading dimensions from `whole` on.
struct BlockShape {
  size_t whole;
  int64_t matrices, rows;
};

// Takes as many matrices as leave each of them some rows: oneDNN's product of several is faster
// than that of one, and can be divided. They are those of leading dimensions from `first` on.
BlockShape block_of(const Shape& shape, size_t first) {
  const int64_t row = shape.keys * static_cast<int64_t>(sizeof(float));
  const int64_t fewest = std::min(kFewestRows, shape.queries);
  BlockShape block{shape.leading.size(), 1, 0};
  while (block.whole > first) {
    const int64_t more = block.matrices * shape.leading[block.whole - 1];
    if (more * fewest * row > kBlockBytes) break;
    block.matrices = more;
    --block.whole;
  }
  block.rows = std::clamp(kBlockBytes / (row * block.matrices), fewest, shape.queries);
  // All blocks get the same number of rows, so that the last one recomputes few.
  const int64_t blocks = (shape.queries + block.rows - 1) / block.rows;
  block.rows = (shape.queries + blocks - 1) / blocks;
  return block;
}

// How a tensor lies in memory, in elements.
struct Place {
  size_t offset;
  Dims strides;
};

// Requirement: the descriptor has strides_of().
Place place_of(const Desc& desc) {
  return {static_cast<size_t>(start_of(desc)), strides_of(desc).value()};
}

// Offset of the matrix with that number, in elements.
size_t offset_of(size_t matrix, const Dims& leading, const Place& place) {
  size_t offset = place.offset;
  for (size_t i = leading.size(); i-- > 0;) {
    const auto dim = static_cast<size_t>(leading[i]);
    offset += matrix % dim * static_cast<size_t>(place.strides[i]);
    matrix /= dim;
  }
  return offset;
}

// The part of a tensor that a block reads or writes, with the same distances.
Desc part_of(const Desc& desc, const Shape& shape, const BlockShape& block, int64_t rows,
             int64_t columns) {
  Dims dims = shape.with(rows, columns), strides = place_of(desc).strides;
  std::fill_n(dims.begin(), block.whole, 1);
  // oneDNN recognises a dense part only if the strides of leading dimensions of size 1, which mean
  // nothing, are those of a dense tensor. Its fast products take no other.
  int64_t whole = 1;
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] > 1) whole = std::max(whole, dims[i] * strides[i]);
  for (size_t i = 0; i < dims.size() && dims[i] == 1; ++i) strides[i] = whole;
  return {dims, desc.data_type(), strides};
}

// A primitive, and which of the step's arguments are its own.
struct Stage {
  dnnl::primitive primitive;
  size_t first, count;
};

// An argument that moves from block to block, and its offsets.
struct Moved {
  size_t argument;
  BufferId buffer;
  std::vector<size_t> offsets;  // in bytes, by block
};

// The bias that is added to the scores, in FP32 and C order.
struct Bias {
  BufferId buffer, scores;
  std::vector<size_t> offsets;  // in elements, by block and matrix
  size_t row_step, step;        // from one row to the next, and one key to the next; 0 where shared
  size_t matrices, rows, keys;  // of a block
};

void add_bias(const Bias& bias, const float* from, size_t block, float* scores) noexcept {
  for (size_t matrix = 0; matrix < bias.matrices; ++matrix) {
    const float* row = from + bias.offsets[block * bias.matrices + matrix];
    for (size_t i = 0; i < bias.rows; ++i, row += bias.row_step, scores += bias.keys) {
      if (bias.step == 0)
        for (size_t key = 0; key < bias.keys; ++key) scores[key] += *row;
      else
        for (size_t key = 0; key < bias.keys; ++key) scores[key] += row[key];
    }
  }
}

class AttentionStep final : public Step {
 public:
  AttentionStep(std::vector<Stage> stages, std::vector<Argument> arguments,
                std::vector<Moved> moved, std::optional<Bias> bias)
      : stages_(std::move(stages)),
        arguments_(std::move(arguments)),
        moved_(std::move(moved)),
        bias_(std::move(bias)) {}

  std::span<const Argument> arguments() const noexcept override { return arguments_; }
  std::vector<BufferId> buffers() const override {
    std::vector<BufferId> ids;
    for (const Argument& argument : arguments_) ids.push_back(argument.operand.buffer);
    if (bias_) ids.push_back(bias_->buffer);
    return ids;
  }

  Status run(const RunState& state) const noexcept override {
    for (size_t block = 0; block < moved_.front().offsets.size(); ++block) {
      for (const Moved& moved : moved_)
        dnnl_memory_set_data_handle(state.arguments[moved.argument].memory,
                                    state.buffers[moved.buffer] + moved.offsets[block]);
      for (size_t i = 0; i < stages_.size(); ++i) {
        const Stage& stage = stages_[i];
        MILLRACE_RETURN_IF_ERROR(execute(stage.primitive, state.stream,
                                         state.arguments.subspan(stage.first, stage.count)));
        if (i == 0 && bias_)
          add_bias(*bias_, state.input<float>(bias_->buffer), block,
                   state.output<float>(bias_->scores));
      }
    }
    return {};
  }

 private:
  const std::vector<Stage> stages_;
  const std::vector<Argument> arguments_;
  const std::vector<Moved> moved_;
  const std::optional<Bias> bias_;
};

class Attention {
 public:
  Attention(Builder& builder, const AcceleratedNode& node)
      : builder_(builder), node_(node), y_(node.node.outputs[0]), shape_(shape_of(node.view)) {}

  Result<bool> lower() {
    MILLRACE_ASSIGN_OR_RETURN(Operand query, as_it_lies(kQuery));
    MILLRACE_ASSIGN_OR_RETURN(Operand key, as_it_lies(kKey));
    MILLRACE_ASSIGN_OR_RETURN(Operand value, as_it_lies(kValue));
    std::optional<Operand> bias;
    if (node_.view.has(kBias)) {
      MILLRACE_ASSIGN_OR_RETURN(bias, plain_operand(builder_, node_.input(kBias)));
    }
    if (!find_block(query, key, value)) {
      MILLRACE_ASSIGN_OR_RETURN(query, plain_operand(builder_, node_.input(kQuery)));
      MILLRACE_ASSIGN_OR_RETURN(key, plain_operand(builder_, node_.input(kKey)));
      MILLRACE_ASSIGN_OR_RETURN(value, plain_operand(builder_, node_.input(kValue)));
      if (!find_block(query, key, value)) return false;
    }
    add_weights(query, key);
    const Operand y = result_as(builder_, y_, result_form(value));
    add_result(value, y);
    std::optional<Bias> added;
    if (bias) added = bias_of(*bias);
    builder_.add("Attention", implementation_,
                 std::make_unique<AttentionStep>(std::move(stages_), std::move(arguments_),
                                                 std::move(moved_), std::move(added)));
    finish_result(builder_, y_, y);
    return true;
  }

 private:
  static Shape shape_of(const fallback::NodeView& view) {
    const auto query = view.in(kQuery).dims, value = view.in(kValue).dims;
    const size_t rank = query.size();
    return {Dims(query.begin(), query.end() - 2), query[rank - 2], value[rank - 2], query[rank - 1],
            value[rank - 1]};
  }

  // The operand in FP32 and any order of its dimensions.
  Result<Operand> as_it_lies(size_t index) {
    const ValueId id = node_.input(index);
    if (builder_.is_constant(id) || builder_.type() != ElementType::f32)
      return plain_operand(builder_, id);
    MILLRACE_ASSIGN_OR_RETURN(const Operand now, builder_.current(id));
    return strides_of(now.desc) ? Result<Operand>(now) : plain_operand(builder_, id);
  }

  // It is in the order of a Transpose that reads it, so that this moves nothing, unless oneDNN's
  // fast product, which does not take rows of any length apart, makes the plain form alone.
  Desc result_form(const Operand& value) const {
    const Desc plain = plain_result(), wanted = joined_form();
    const Product made = result_product(value, wanted);
    if (!exists(made)) return plain;
    if (may_be_divided(made.impl_info_str())) return wanted;
    return may_be_divided(result_product(value, plain).impl_info_str()) ? plain : wanted;
  }

  Desc plain_result() const { return plain_desc(builder_.dims(y_), ElementType::f32); }

  // Returns the layout that the Transpose which follows reads, if it keeps the rows whole; else a
  // plain one.
  Desc joined_form() const {
    const Dims dims = builder_.dims(y_);
    for (const uint32_t reader : builder_.readers(y_)) {
      const graph::Node& node = builder_.model().graph.nodes[reader];
      const auto* op = std::get_if<graph::Transpose>(&node.op);
      if (op == nullptr || op->permutation.back() + 1 != static_cast<int64_t>(dims.size()))
        continue;
      const std::vector<uint32_t> order(op->permutation.begin(), op->permutation.end());
      return ordered_desc(dims, ElementType::f32, order);
    }
    return plain_result();
  }

  Desc scores_form() const {
    Dims dims = shape_.with(block_.rows, shape_.keys);
    std::fill_n(dims.begin(), block_.whole, 1);
    return plain_desc(dims, ElementType::f32);
  }

  template <class PrimitiveDesc>
  void add_stage(const PrimitiveDesc& desc, dnnl::primitive primitive,
                 std::vector<Argument> arguments) {
    if (const Desc scratch = desc.scratchpad_desc(); scratch.get_size() > 0)
      arguments.push_back({DNNL_ARG_SCRATCHPAD, builder_.new_temporary(scratch)});
    stages_.push_back({std::move(primitive), arguments_.size(), arguments.size()});
    arguments_.insert(arguments_.end(), arguments.begin(), arguments.end());
  }

  // The name of a primitive that cannot be divided stands for the step.
  void note(const char* implementation) {
    if (implementation_.empty() || !may_be_divided(implementation))
      implementation_ = implementation;
  }

  // An operand whose matrices have so many rows and columns; `is_query` where the rows are those of
  // the block.
  void move(size_t argument, const Operand& operand, bool is_query) {
    const Place place = place_of(operand.desc);
    Moved moved{argument, operand.buffer, {}};
    for_each_block([&](size_t matrix, int64_t row) {
      size_t offset = offset_of(matrix, shape_.leading, place);
      if (is_query) offset += static_cast<size_t>(row * place.strides[shape_.leading.size()]);
      moved.offsets.push_back(offset * sizeof(float));
    });
    moved_.push_back(std::move(moved));
  }

  // visit(first matrix, first row). The last block of a matrix may compute rows again, since the
  // primitives are made for one number of rows.
  template <class Visit>
  void for_each_block(Visit visit) const {
    const int64_t matrices = std::accumulate(shape_.leading.begin(), shape_.leading.end(),
                                             int64_t{1}, std::multiplies<>());
    for (int64_t matrix = 0; matrix < matrices; matrix += block_.matrices)
      for (int64_t row = 0; row < shape_.queries; row += block_.rows)
        visit(static_cast<size_t>(matrix), std::min(row, shape_.queries - block_.rows));
  }

  Desc queries_of(const Operand& query) const {
    return part_of(query.desc, shape_, block_, block_.rows, shape_.depth);
  }

  // The keys of a block, one per column.
  Desc keys_of(const Operand& key) const {
    Dims swapped(shape_.rank());
    std::iota(swapped.begin(), swapped.end(), 0);
    std::swap(swapped[shape_.rank() - 1], swapped[shape_.rank() - 2]);
    return permuted(part_of(key.desc, shape_, block_, shape_.keys, shape_.depth), swapped);
  }

  static bool exists(const Product& product) { return product.get(true) != nullptr; }

  // Takes the largest block that has both products. oneDNN 3.7 takes several matrices only if they
  // lie at equal distances.
  bool find_block(const Operand& query, const Operand& key, const Operand& value) {
    // The block is the same for all `first` up to where it begins.
    for (size_t first = 0; first <= shape_.leading.size(); first = block_.whole + 1) {
      block_ = block_of(shape_, first);
      if (exists(score_product(query, key)) && exists(result_product(value, plain_result())))
        return true;
    }
    return false;
  }

  // scale query key^T; empty if oneDNN has no such product.
  Product score_product(const Operand& query, const Operand& key) const {
    dnnl::primitive_attr attributes = kernels::make_attributes();
    if (const float scale = node_.view.real("scale", 1); scale != 1) {
      dnnl::post_ops post_ops;
      append_eltwise(post_ops, {dnnl::algorithm::eltwise_linear, scale, 0});
      attributes.set_post_ops(post_ops);
    }
    return find_product(builder_.engine(), attributes,
                        {queries_of(query), keys_of(key), {}, scores_form()});
  }

  // softmax(scale query key^T), with the bias between the two.
  void add_weights(const Operand& query, const Operand& key) {
    scores_ = builder_.new_temporary(scores_form());
    const Product product = score_product(query, key);
    add_stage(product, dnnl::matmul(product),
              {{DNNL_ARG_SRC, {query.buffer, queries_of(query)}},
               {DNNL_ARG_WEIGHTS, {key.buffer, keys_of(key)}},
               {DNNL_ARG_DST, scores_}});
    note(product.impl_info_str());
    move(0, query, true);
    move(1, key, false);
    const auto softmax = make_primitive<SoftmaxPrimitive>(
        builder_.engine(), kernels::make_attributes(), dnnl::prop_kind::forward_inference,
        dnnl::algorithm::softmax_accurate, scores_.desc, scores_.desc,
        static_cast<int>(shape_.rank()) - 1);
    add_stage(softmax, SoftmaxPrimitive(softmax),
              {{DNNL_ARG_SRC, scores_}, {DNNL_ARG_DST, scores_}});
    note(softmax.impl_info_str());
  }

  // Empty if oneDNN has no such product.
  Product result_product(const Operand& value, const Desc& y) const {
    return find_product(builder_.engine(), kernels::make_attributes(),
                        {scores_form(),
                         part_of(value.desc, shape_, block_, shape_.keys, shape_.size),
                         {},
                         part_of(y, shape_, block_, block_.rows, shape_.size)});
  }

  void add_result(const Operand& value, const Operand& y) {
    const Product product = result_product(value, y.desc);
    const size_t first = arguments_.size();
    add_stage(product, dnnl::matmul(product),
              {{DNNL_ARG_SRC, scores_},
               {DNNL_ARG_WEIGHTS, {value.buffer, product.weights_desc()}},
               {DNNL_ARG_DST, {y.buffer, product.dst_desc()}}});
    note(product.impl_info_str());
    move(first + 1, value, false);
    move(first + 2, y, true);
  }

  Bias bias_of(const Operand& operand) const {
    const auto given = node_.view.in(kBias).dims;
    Dims dims(shape_.rank(), 1);
    std::copy(given.begin(), given.end(), dims.end() - static_cast<ptrdiff_t>(given.size()));
    Place place{0, Dims(shape_.rank())};
    int64_t stride = 1;
    for (size_t i = shape_.rank(); i-- > 0; stride *= dims[i])
      place.strides[i] = dims[i] == 1 ? 0 : stride;
    const size_t rows = shape_.leading.size();
    Bias bias{operand.buffer,
              scores_.buffer,
              {},
              static_cast<size_t>(place.strides[rows]),
              static_cast<size_t>(place.strides[rows + 1]),
              static_cast<size_t>(block_.matrices),
              static_cast<size_t>(block_.rows),
              static_cast<size_t>(shape_.keys)};
    for_each_block([&](size_t first, int64_t row) {
      for (size_t matrix = first; matrix < first + bias.matrices; ++matrix)
        bias.offsets.push_back(offset_of(matrix, shape_.leading, place) +
                               static_cast<size_t>(row) * bias.row_step);
    });
    return bias;
  }

  Builder& builder_;
  const AcceleratedNode& node_;
  const ValueId y_;
  const Shape shape_;
  BlockShape block_{};
  Operand scores_;
  std::vector<Stage> stages_;
  std::vector<Argument> arguments_;
  std::vector<Moved> moved_;
  std::string implementation_;
};

}  // namespace

Result<bool> lower_attention(Builder& builder, const AcceleratedNode& node) {
  constexpr size_t kMostDimensions = 6;  // that oneDNN's fast products take
  if (node.view.in(kQuery).rank() > kMostDimensions) return false;
  return Attention(builder, node).lower();
}

}  // namespace millrace::device::cpu::accelerated
