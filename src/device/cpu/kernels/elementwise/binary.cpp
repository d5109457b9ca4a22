// Binary: oneDNN's primitives, if the first operand has the shape of the result. oneDNN's maximum
// and minimum return a number if the first operand is NaN, so there are loops for these.
#include "device/cpu/kernels/elementwise/binary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "device/cpu/dnnl/traits.h"
#include "device/cpu/kernels/elementwise/loop_step.h"
#include "device/cpu/kernels/elementwise/loops.h"
#include "device/cpu/kernels/kernels.h"
#include "device/cpu/kernels/primitives.h"

namespace millrace::device::cpu::kernels {
namespace {

using graph::BinaryKind;
using graph::ValueId;

std::optional<dnnl::algorithm> algorithm_of(BinaryKind kind) {
  switch (kind) {
    case BinaryKind::kAdd:
      return dnnl::algorithm::binary_add;
    case BinaryKind::kSub:
      return dnnl::algorithm::binary_sub;
    case BinaryKind::kMul:
      return dnnl::algorithm::binary_mul;
    case BinaryKind::kDiv:
      return dnnl::algorithm::binary_div;
    case BinaryKind::kMin:
    case BinaryKind::kMax:
    case BinaryKind::kPow:
    case BinaryKind::kPrelu:
      break;
  }
  return std::nullopt;
}

bool commutes(BinaryKind kind) {
  return kind == BinaryKind::kAdd || kind == BinaryKind::kMul || kind == BinaryKind::kMin ||
         kind == BinaryKind::kMax;
}

// The two operands. `main` has the shape of the result.
struct Operands {
  ValueId main, other;
  Dims dims;                    // of main and of the result
  Dims other_dims;              // with the same rank
  std::optional<float> number;  // the value of `other`, if that is one constant number
};

std::optional<float> constant_number(const Builder& builder, ValueId id) {
  if (!builder.is_constant(id) || builder.value(id).elements() != 1) return std::nullopt;
  return builder.constant_floats(id)[0];
}

std::optional<Operands> order_operands(const Builder& builder, const Node& node, BinaryKind kind) {
  ValueId a = node.input(0), b = node.input(1);
  const Dims dims = builder.dims(node.outputs[0]);
  if (builder.dims(a) != dims && commutes(kind)) std::swap(a, b);
  if (builder.dims(a) != dims) return std::nullopt;
  Operands operands{a, b, dims, with_rank(builder.dims(b), dims.size()),
                    constant_number(builder, b)};
  // For images a number is one number per channel: see other_layouts().
  if (operands.number && dims.size() >= 3) operands.other_dims[1] = dims[1];
  return operands;
}

// Returns the layouts to try for the second operand if the first has `layout`.
std::vector<Desc> other_layouts(const Operands& operands, const Desc& layout) {
  if (operands.other_dims == operands.dims) return {layout};
  // oneDNN 2.6 leaves out the last channels of a block that is not full when the second operand is
  // broadcast over the channels.
  if (has_padding(layout) && operands.other_dims[1] == 1) return {};
  return {plain_desc(operands.other_dims, layout.data_type()),
          blocked_desc(operands.other_dims, layout.data_type(), channel_block())};
}

// Returns the second operand, with the rank of the first.
Result<Operand> fetch_other(Builder& builder, const Operands& operands, const Desc& wanted) {
  if (operands.number) {
    const auto count = static_cast<size_t>(operands.dims.size() >= 3 ? operands.dims[1] : 1);
    return builder.add_constant(wanted, std::vector<float>(count, *operands.number));
  }
  if (builder.dims(operands.other) == operands.other_dims)
    return builder.in_layout(operands.other, wanted);
  return builder.packed(operands.other, wanted);
}

// Chooses a primitive by `make(layout of the first, layout of the second)` and adds it; false when
// there is no fast one. `second` and `result` query the layouts it was made for.
template <class Primitive, class Make>
Result<bool> add_fast(Builder& builder, const char* operation, const Operands& operands, ValueId y,
                      std::pair<int, int> arguments, Make make) {
  MILLRACE_ASSIGN_OR_RETURN(const Operand now, builder.current(operands.main));
  for (const Desc& layout : layouts_for(now.desc)) {
    const auto choice = choose(other_layouts(operands, layout),
                               [&](const Desc& other) { return make(layout, other); });
    if (!choice || is_reference(choice->primitive.impl_info_str())) continue;
    MILLRACE_ASSIGN_OR_RETURN(const Operand main, builder.in_layout(operands.main, layout));
    MILLRACE_ASSIGN_OR_RETURN(const Operand other, fetch_other(builder, operands, choice->option));
    const Operand to = builder.new_result_over(y, layout, operands.main, main);
    builder.add_primitive(operation, choice->primitive, Primitive(choice->primitive),
                          {{arguments.first, main}, {arguments.second, other}, {DNNL_ARG_DST, to}});
    return true;
  }
  return false;
}

Result<bool> add_library_binary(Builder& builder, const Operands& operands, ValueId y,
                                dnnl::algorithm algorithm) {
  return add_fast<dnnl::binary>(builder, "Binary", operands, y, {DNNL_ARG_SRC_0, DNNL_ARG_SRC_1},
                                [&](const Desc& main, const Desc& other) {
                                  return find_binary(builder.engine(), make_attributes(), algorithm,
                                                     main, other);
                                });
}

Result<bool> add_library_prelu(Builder& builder, const Operands& operands, ValueId y) {
  return add_fast<dnnl::prelu_forward>(
      builder, "PRelu", operands, y, {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS},
      [&](const Desc& main, const Desc& other) {
        return find_prelu(builder.engine(), make_attributes(), main, other);
      });
}

// Computes the larger or smaller elements of two tensors with the same layout.
template <class T>
class ExtremeStep final : public Step {
 public:
  using Loop = void (*)(const T*, const T*, T*, size_t) noexcept;

  ExtremeStep(Loop loop, BufferId a, BufferId b, BufferId to, size_t count, uint32_t chunks)
      : loop_(loop),
        a_(a),
        b_(b),
        to_(to),
        count_(count),
        parts_(static_cast<uint32_t>(std::clamp<size_t>(count / kLeast, 1, chunks))) {}
  std::vector<BufferId> buffers() const override { return {a_, b_, to_}; }
  Status run(const RunState& state) const noexcept override {
    const T *const a = state.input<T>(a_), *const b = state.input<T>(b_);
    T* const to = state.output<T>(to_);
    run_parts(state, parts_, [=, this](uint32_t number) {
      const Share share = share_of((count_ + kLeast - 1) / kLeast, number, parts_);
      const size_t first = share.first * kLeast;
      loop_(a + first, b + first, to + first, std::min(share.count * kLeast, count_ - first));
    });
    return {};
  }

 private:
  static constexpr size_t kLeast = 64;  // parts begin at cache lines
  const Loop loop_;
  const BufferId a_, b_, to_;
  const size_t count_;
  const uint32_t parts_;
};

template <class T>
std::unique_ptr<const Step> make_extreme_step(const Builder& builder, BinaryKind kind,
                                              const Operand& a, const Operand& b,
                                              const Operand& to) {
  const typename ExtremeStep<T>::Loop larger = larger_of, smaller = smaller_of;
  return std::make_unique<ExtremeStep<T>>(kind == BinaryKind::kMax ? larger : smaller, a.buffer,
                                          b.buffer, to.buffer, elements_in_memory(a.desc),
                                          builder.chunks());
}

// Returns false and adds nothing if the second operand is broadcast, unless it is one number.
Result<bool> lower_extreme(Builder& builder, const Node& node, const Operands& operands,
                           BinaryKind kind) {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  if (operands.number && !std::isnan(*operands.number)) {
    const bool is_max = kind == BinaryKind::kMax;
    const graph::Activation clip{graph::UnaryKind::kClip, is_max ? *operands.number : -kInfinite,
                                 is_max ? kInfinite : *operands.number};
    MILLRACE_RETURN_IF_ERROR(lower_function(builder, operands.main, node.outputs[0], clip));
    return true;
  }
  if (builder.dims(operands.other) != operands.dims) return false;
  MILLRACE_ASSIGN_OR_RETURN(Operand main, builder.current(operands.main));
  if (!is_dense(main.desc)) {
    MILLRACE_ASSIGN_OR_RETURN(main, builder.plain(operands.main));
  }
  MILLRACE_ASSIGN_OR_RETURN(const Operand other, builder.in_layout(operands.other, main.desc));
  const Operand to = builder.new_result_over(node.outputs[0], main.desc, operands.main, main);
  builder.add("Binary", "millrace:loop",
              builder.type() == ElementType::bf16
                  ? make_extreme_step<uint16_t>(builder, kind, main, other, to)
                  : make_extreme_step<float>(builder, kind, main, other, to));
  return true;
}

Result<bool> lower_by_library(Builder& builder, const Node& node, BinaryKind kind) {
  const ValueId y = node.outputs[0];
  if (const auto exponent = constant_number(builder, node.input(1));
      kind == BinaryKind::kPow && exponent && builder.dims(node.input(0)) == builder.dims(y)) {
    const graph::Unary power{{graph::UnaryKind::kPow, *exponent, 0}};
    MILLRACE_RETURN_IF_ERROR(lower(builder, node, power));
    return true;
  }
  const auto operands = order_operands(builder, node, kind);
  if (!operands) return false;
  if (kind == BinaryKind::kPrelu) return add_library_prelu(builder, *operands, y);
  if (kind == BinaryKind::kMin || kind == BinaryKind::kMax)
    return lower_extreme(builder, node, *operands, kind);
  const auto algorithm = algorithm_of(kind);
  if (!algorithm) return false;
  return add_library_binary(builder, *operands, y, *algorithm);
}

}  // namespace

Dims with_rank(const Dims& dims, size_t rank) {
  Dims result(rank - dims.size(), 1);
  result.insert(result.end(), dims.begin(), dims.end());
  return result;
}

Status add_prelu(Builder& builder, const Operand& from, const Operand& slope, const Operand& to) {
  const auto primitive = find_prelu(builder.engine(), make_attributes(), from.desc, slope.desc);
  if (!primitive) return unsupported("oneDNN has no PRelu for this layout");
  builder.add_primitive("PRelu", primitive, dnnl::prelu_forward(primitive),
                        {{DNNL_ARG_SRC, from}, {DNNL_ARG_WEIGHTS, slope}, {DNNL_ARG_DST, to}});
  return {};
}

Status lower(Builder& builder, const Node& node, const graph::Binary& op) {
  const ValueId a = node.input(0), b = node.input(1), y = node.outputs[0];
  MILLRACE_ASSIGN_OR_RETURN(const bool done, lower_by_library(builder, node, op.kind));
  if (done) return {};
  MILLRACE_ASSIGN_OR_RETURN(const Operand plain_a, builder.plain(a));
  MILLRACE_ASSIGN_OR_RETURN(const Operand plain_b, builder.plain(b));
  const Operand to = builder.new_result(y, builder.plain_layout(y));
  return add_plain_binary(builder, op.kind, plain_a, builder.dims(a), plain_b, builder.dims(b), to,
                          builder.dims(y));
}

}  // namespace millrace::device::cpu::kernels
