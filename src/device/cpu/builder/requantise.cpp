// Quantisation and dequantisation element by element: q = round(x / scale) + zero point, saturated,
// and x = (q - zero point) * scale. A tensor is a sequence of runs whose elements share a scale and
// a zero point: the whole tensor, or an index of the quantised axis.
#include "device/cpu/builder/requantise.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "device/cpu/builder/byte_conversion.h"
#include "device/cpu/weights/quantisation_run.h"
#include "tensor/element.h"

namespace millrace::device::cpu {
namespace {

using graph::ValueId;
using tensor::ElementRule;

// A tensor as a sequence of runs, each of elements with the same scale and zero point. The rules
// repeat.
struct Runs {
  std::vector<ElementRule> rules;  // of the runs, in turn
  size_t length = 0;               // elements of a run
  size_t count = 0;                // elements in all
};

Runs runs_of(const Builder& builder, ValueId id, size_t count) {
  const graph::Quantisation& quantisation = builder.quantisation(id);
  Runs runs{.rules = {}, .length = elements_per_run(builder.value(id)), .count = count};
  for (size_t i = 0; i < quantisation.scales.size(); ++i)
    runs.rules.push_back({quantisation.scales[i], quantisation.zero_points[i]});
  return runs;
}

// Calls `body` with the first element, the number and the rule of each run.
template <class F>
void for_each_run(const Runs& runs, F body) {
  size_t at = 0;
  while (at < runs.count) {
    for (const ElementRule& rule : runs.rules) {
      body(at, runs.length, rule);
      at += runs.length;
    }
  }
}

enum class Operation { kQuantise, kDequantise };

class ByteStep final : public Step {
 public:
  ByteStep(Operation operation, const ByteConversion& conversion, Runs runs, BufferId from,
           BufferId to)
      : operation_(operation),
        conversion_(conversion),
        runs_(std::move(runs)),
        from_(from),
        to_(to) {}
  std::vector<BufferId> buffers() const override { return {from_, to_}; }
  Status run(const RunState& state) const noexcept override {
    for_each_run(runs_, [&](size_t at, size_t count, const ElementRule& rule) {
      if (operation_ == Operation::kQuantise)
        conversion_.quantise(state.input<float>(from_) + at, state.output<std::byte>(to_) + at,
                             count, rule);
      else
        conversion_.dequantise(state.input<std::byte>(from_) + at, state.output<float>(to_) + at,
                               count, rule);
    });
    return {};
  }

 private:
  const Operation operation_;
  const ByteConversion conversion_;
  const Runs runs_;
  const BufferId from_, to_;
};

// 32-bit integers are biases, which kernels take as constants: this loop is for the others.
class WordStep final : public Step {
 public:
  WordStep(Operation operation, Runs runs, BufferId from, BufferId to)
      : operation_(operation), runs_(std::move(runs)), from_(from), to_(to) {}
  std::vector<BufferId> buffers() const override { return {from_, to_}; }
  Status run(const RunState& state) const noexcept override {
    for_each_run(runs_, [&](size_t at, size_t count, const ElementRule& rule) {
      for (size_t i = at; i < at + count; ++i) {
        if (operation_ == Operation::kQuantise)
          state.output<int32_t>(to_)[i] =
              tensor::quantise<int32_t>(state.input<float>(from_)[i], rule);
        else
          state.output<float>(to_)[i] =
              tensor::dequantise<float>(state.input<int32_t>(from_)[i], rule);
      }
    });
    return {};
  }

 private:
  const Operation operation_;
  const Runs runs_;
  const BufferId from_, to_;
};

Status add_step(Builder& builder, ValueId id, Operation operation, const Operand& from,
                const Operand& to) {
  const Operand& numbers = operation == Operation::kQuantise ? from : to;
  const size_t count = numbers.desc.get_size() / sizeof(float);
  Runs runs = runs_of(builder, id, count);
  const char* const name = operation == Operation::kQuantise ? "Quantise" : "Dequantise";
  if (const auto conversion = conversion_of(builder.value(id).type)) {
    builder.add(
        name, "millrace:vectors",
        std::make_unique<ByteStep>(operation, *conversion, std::move(runs), from.buffer, to.buffer),
        std::nullopt, id);
    return {};
  }
  builder.add(name, "millrace:loop",
              std::make_unique<WordStep>(operation, std::move(runs), from.buffer, to.buffer),
              std::nullopt, id);
  return {};
}

}  // namespace

Status add_quantise(Builder& builder, ValueId id, const Operand& numbers, const Operand& integers) {
  return add_step(builder, id, Operation::kQuantise, numbers, integers);
}

Status add_dequantise(Builder& builder, ValueId id, const Operand& integers,
                      const Operand& numbers) {
  return add_step(builder, id, Operation::kDequantise, integers, numbers);
}

}  // namespace millrace::device::cpu
