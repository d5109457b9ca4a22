#include "device/cpu/kernels/careful_step.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "device/cpu/dnnl/invalid_flag.h"
#include "device/cpu/kernels/elementwise/loop_step.h"

namespace millrace::device::cpu::kernels {
namespace {

template <class T>
void append(std::vector<T>& all, std::span<const T> more) {
  all.insert(all.end(), more.begin(), more.end());
}

class CarefulStep final : public Step {
 public:
  CarefulStep(std::unique_ptr<const Step> fast, std::unique_ptr<const Step> careful,
              bool overwrites)
      : fast_(std::move(fast)), careful_(std::move(careful)), overwrites_(overwrites) {
    append(arguments_, fast_->arguments());
    append(arguments_, careful_->arguments());
  }
  std::span<const Argument> arguments() const noexcept override { return arguments_; }
  std::span<const Argument> operands() const noexcept override { return fast_->operands(); }
  std::vector<BufferId> buffers() const override {
    std::vector<BufferId> ids = fast_->buffers();
    append<BufferId>(ids, careful_->buffers());
    return ids;
  }

  Status run(const RunState& state) const noexcept override {
    NanWatch& nans = *state.nans;
    if (!nans.is_careful) {
      clear_invalid_flag();
      RunState of_fast = state;
      of_fast.arguments = state.arguments.first(fast_->arguments().size());
      MILLRACE_RETURN_IF_ERROR(fast_->run(of_fast));
      if (!invalid_flag()) [[likely]]
        return {};
      nans.lost_operand = overwrites_;
      nans.is_careful = true;
      if (overwrites_) return {};
    }
    RunState of_careful = state;
    of_careful.arguments = state.arguments.subspan(fast_->arguments().size());
    return careful_->run(of_careful);
  }

 private:
  const std::unique_ptr<const Step> fast_, careful_;
  const bool overwrites_;
  std::vector<Argument> arguments_;
};

class SequenceStep final : public Step {
 public:
  SequenceStep(std::unique_ptr<const Step> first, std::unique_ptr<const Step> then)
      : first_(std::move(first)), then_(std::move(then)) {}
  std::span<const Argument> arguments() const noexcept override { return first_->arguments(); }
  std::vector<BufferId> buffers() const override { return first_->buffers(); }
  Status run(const RunState& state) const noexcept override {
    MILLRACE_RETURN_IF_ERROR(first_->run(state));
    return then_->run(state);
  }

 private:
  const std::unique_ptr<const Step> first_, then_;
};

}  // namespace

void add_careful_step(Builder& builder, std::string operation, std::string implementation,
                      std::unique_ptr<const Step> fast, std::unique_ptr<const Step> careful,
                      bool overwrites) {
  builder.add(std::move(operation), std::move(implementation),
              std::make_unique<CarefulStep>(std::move(fast), std::move(careful), overwrites));
}

void add_scratch(Builder& builder, const Desc& scratch, const Step* other,
                 std::vector<Argument>& arguments) {
  if (scratch.get_size() == 0) return;
  const auto others = other == nullptr ? std::span<const Argument>() : other->arguments();
  const auto there = std::ranges::find(others, DNNL_ARG_SCRATCHPAD, &Argument::index);
  if (there != others.end() && there->operand.desc == scratch)
    arguments.push_back(*there);
  else
    arguments.push_back({DNNL_ARG_SCRATCHPAD, builder.new_temporary(scratch)});
}

std::unique_ptr<const Step> bounded_step(const Builder& builder, std::unique_ptr<const Step> first,
                                         const Operand& to, const Bounds& bounds) {
  return std::make_unique<SequenceStep>(std::move(first),
                                        make_bounds_step(builder, bounds, to, to));
}

bool keeps_padding(const Desc& desc, const Bounds& bounds) {
  return !has_padding(desc) || (bounds.least <= 0 && bounds.most >= 0);
}

}  // namespace millrace::device::cpu::kernels
