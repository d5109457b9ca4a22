// RMSNormalization and SimplifiedLayerNormalization: root mean square normalisation of the last
// dimensions.
#include <memory>
#include <optional>
#include <vector>

#include "device/cpu/accelerated/accelerated.h"
#include "device/cpu/accelerated/root_mean_square.h"
#include "device/cpu/builder/operands.h"
#include "device/cpu/steps/parts.h"
#include "fallback/axis.h"

namespace millrace::device::cpu::accelerated {
namespace {

using graph::ValueId;

// Rows of elements of the type T. `inverses` is the second output, of one element for each row.
template <class T>
class RmsNormStep final : public Step {
 public:
  RmsNormStep(size_t rows, size_t size, float epsilon, uint32_t parts, BufferId x, BufferId scale,
              BufferId y, std::optional<BufferId> inverses)
      : rows_(rows),
        size_(size),
        epsilon_(epsilon),
        parts_(parts),
        x_(x),
        scale_(scale),
        y_(y),
        inverses_(inverses) {}

  std::vector<BufferId> buffers() const override {
    std::vector<BufferId> ids = {x_, scale_, y_};
    if (inverses_) ids.push_back(*inverses_);
    return ids;
  }

  Status run(const RunState& state) const noexcept override {
    run_parts(state, parts_, [&](uint32_t number) {
      const Share share = share_of(rows_, number, parts_);
      for (size_t row = share.first; row < share.first + share.count; ++row) {
        const float inverse =
            normalise_row(state.input<T>(x_) + row * size_, state.input<float>(scale_), epsilon_,
                          state.output<T>(y_) + row * size_, size_);
        if (inverses_) state.output<float>(*inverses_)[row] = inverse;
      }
    });
    return {};
  }

 private:
  const size_t rows_, size_;
  const float epsilon_;
  const uint32_t parts_;
  const BufferId x_, scale_, y_;
  const std::optional<BufferId> inverses_;
};

}  // namespace

Result<bool> lower_rms_norm(Builder& builder, const AcceleratedNode& node) {
  const ValueId x_id = node.input(0), scale_id = node.input(1), y_id = node.node.outputs[0];
  const fallback::TensorView& view = node.view.in(0);
  MILLRACE_ASSIGN_OR_RETURN(const size_t axis,
                            graph::normalise_axis(node.view.integer("axis", -1), view.rank()));
  const size_t size = fallback::element_count(view.dims.subspan(axis));
  if (node.view.in(1).elements() != size) return false;
  const size_t rows = view.elements() / size;
  const float epsilon = node.view.real("epsilon", 1e-5f);
  MILLRACE_ASSIGN_OR_RETURN(const Operand x, builder.plain(x_id));
  MILLRACE_ASSIGN_OR_RETURN(const Operand scale, plain_operand(builder, scale_id));
  const Operand y = builder.new_result_over(y_id, x.desc, x_id, x);
  std::optional<Operand> inverses;
  if (node.node.outputs.size() > 1) inverses = plain_result(builder, node.node.outputs[1]);
  const auto make = [&](auto element) -> std::unique_ptr<const Step> {
    return std::make_unique<RmsNormStep<decltype(element)>>(
        rows, size, epsilon, builder.chunks(), x.buffer, scale.buffer, y.buffer,
        inverses ? std::optional(inverses->buffer) : std::nullopt);
  };
  builder.add(name_of(node.node.op), "millrace:vectors",
              x.desc.data_type() == ElementType::bf16 ? make(uint16_t{}) : make(float{}));
  if (inverses) finish_result(builder, node.node.outputs[1], *inverses);
  return true;
}

}  // namespace millrace::device::cpu::accelerated
