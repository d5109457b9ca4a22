#include "device/cpu/cpu_program.h"

#include <utility>

#include "base/log.h"
#include "device/cpu/boundary.h"
#include "device/cpu/cpu_context.h"

namespace millrace::device::cpu {

using graph::Precision;

namespace {

// Why a model of that precision is computed in FP32; empty where it is not, or is of FP32.
std::string why_in_fp32(Precision precision, bool has_bf16) {
  if (precision == Precision::kFp16)
    return "computed in FP32: this device stores FP16, but does not compute in it";
  if (precision == Precision::kBf16 && !has_bf16)
    return "computed in FP32: this processor has no BF16 instructions (AVX512_BF16)";
  return {};
}

}  // namespace

Result<std::shared_ptr<const Program>> CpuProgram::load(
    std::shared_ptr<const graph::CompiledModel> model, const dnnl::engine& engine,
    const Abilities& abilities) {
  std::string note = why_in_fp32(model->precision, abilities.bf16);
  const Precision precision = note.empty() ? model->precision : Precision::kFp32;
  const ElementType type = precision == Precision::kBf16 ? ElementType::bf16 : ElementType::f32;
  std::vector<plan::Form> forms(model->graph.nodes.size(), plan::usual_form(type));
  Builder::Choices choices{abilities.bf16, abilities.int8, std::move(forms),
                           Division(*model, type, abilities.lanes)};
  Result<ProgramParts> parts = Builder(*model, std::move(choices), engine).build();
  if (!parts.ok()) return parts.status().with_context("cannot load model \"" + model->name + "\"");
  // FP16 loses nothing by that, wherever it runs.
  if (model->precision == Precision::kBf16 && !note.empty())
    log(LogLevel::kWarning, "cpu", "model \"" + model->name + "\" is " + note);
  return std::shared_ptr<const Program>(
      new CpuProgram(std::move(model), engine, precision, std::move(note), *std::move(parts)));
}

bool CpuProgram::accepts(Direction direction, size_t index, View view) const noexcept {
  const auto& boundaries = direction == Direction::kInput ? model_->inputs : model_->outputs;
  return index < boundaries.size() && accepts_view(boundaries[index], view);
}

Result<std::unique_ptr<Context>> CpuProgram::create_context() const {
  return guarded([this]() -> Result<std::unique_ptr<Context>> {
    return std::unique_ptr<Context>(new CpuContext(shared_from_this()));
  });
}

ProgramInfo CpuProgram::info() const {
  ProgramInfo info{"cpu", precision_, note_, {}, parts_.weight_bytes, parts_.buffers.arena_bytes};
  for (const ProgramStep& step : parts_.steps) info.steps.push_back(step.info);
  return info;
}

}  // namespace millrace::device::cpu
