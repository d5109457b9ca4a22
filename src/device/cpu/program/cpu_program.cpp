#include "device/cpu/program/cpu_program.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "base/process/forked_child.h"
#include "base/process/topology.h"
#include "device/cpu/builder/boundary.h"
#include "device/cpu/plan/plan.h"
#include "device/cpu/program/lower_node.h"

namespace millrace::device::cpu {

using graph::Precision;

namespace {

// Why a model of that precision is computed in FP32; empty where it is not, or is of FP32.
std::string why_in_fp32(Precision precision, bool has_bf16) {
  if (precision == Precision::kFp16)
    return "computed in FP32: this device stores FP16, but does not compute in it";
  if (precision != Precision::kBf16 || has_bf16) return {};
  const CpuFeatures& features = topology().features;
  if (features.fast_bf16) return "computed in FP32: MILLRACE_NO_BF16 is set";
  if (features.avx512_bf16)
    return "computed in FP32, which is faster than BF16 on this processor (MILLRACE_NO_BF16=0: in "
           "BF16)";
  return "computed in FP32: this processor has no BF16 instructions (AVX512_BF16)";
}

// Says at the steps of convolutions what their plan was chosen by.
void add_reasons(const graph::Graph& graph, const plan::Plan& plan, ProgramParts& parts) {
  std::map<std::string_view, const plan::Reason*> reasons;
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (!plan.reasons[i].text.empty()) reasons.emplace(graph.nodes[i].name, &plan.reasons[i]);
  for (ProgramStep& step : parts.steps) {
    if (step.info.operation != "Conv") continue;
    const auto reason = reasons.find(step.info.node);
    if (reason == reasons.end()) continue;
    step.info.reason = reason->second->text;
    step.info.chosen_by = reason->second->chosen_by;
  }
}

Result<plan::Plan> plan_forms(const graph::CompiledModel& model, ElementType type,
                              const plan::Division& division, const dnnl::engine& engine) {
  return guarded(
      [&]() -> Result<plan::Plan> { return plan::make_plan(model, type, division, engine); });
}

Result<ProgramParts> build(const graph::CompiledModel& model, ElementType type,
                           const Abilities& abilities, const dnnl::engine& engine,
                           queue::Lanes& lanes, PackedStore& store,
                           const std::shared_ptr<ranks::Communicator>& communicator) {
  const plan::Division division(model, type, abilities.lanes);
  MILLRACE_ASSIGN_OR_RETURN(const plan::Plan plan, plan_forms(model, type, division, engine));
  return guarded([&]() -> Result<ProgramParts> {
    Builder::Choices choices{abilities.bf16,    abilities.int8, plan.forms,
                             division.chunks(), lower_node,     communicator};
    MILLRACE_ASSIGN_OR_RETURN(ProgramParts parts,
                              Builder(model, std::move(choices), engine).build());
    add_reasons(model.graph, plan, parts);
    MILLRACE_RETURN_IF_ERROR(
        parts.packing.run(lanes, engine, store, parts.constants, parts.buffers));
    return parts;
  });
}

// Null where no collective is begun.
Result<std::unique_ptr<CollectiveThread>> thread_for(const ProgramParts& parts) {
  if (std::ranges::none_of(parts.steps, &ProgramStep::is_begun))
    return std::unique_ptr<CollectiveThread>();
  return CollectiveThread::start();
}

}  // namespace

// A forked child does not have the thread.
CpuProgram::~CpuProgram() {
  if (is_forked_child()) static_cast<void>(collectives_.release());
}

Result<std::shared_ptr<const Program>> CpuProgram::load(
    std::shared_ptr<const graph::CompiledModel> model, const dnnl::engine& engine,
    const Abilities& abilities, queue::Lanes& lanes, PackedStore& store,
    std::shared_ptr<ranks::Communicator> communicator) {
  std::string note = why_in_fp32(model->precision, abilities.bf16);
  const Precision precision = note.empty() ? model->precision : Precision::kFp32;
  const ElementType type = precision == Precision::kBf16 ? ElementType::bf16 : ElementType::f32;
  Result<ProgramParts> parts = build(*model, type, abilities, engine, lanes, store, communicator);
  if (!parts.ok()) return parts.status().with_context("cannot load model \"" + model->name + "\"");
  MILLRACE_ASSIGN_OR_RETURN(std::unique_ptr<CollectiveThread> collectives, thread_for(*parts));
  // FP16 loses nothing by that, wherever it runs.
  if (model->precision == Precision::kBf16 && !note.empty())
    log(LogLevel::kWarning, "cpu", "model \"" + model->name + "\" is " + note);
  return std::shared_ptr<const Program>(
      new CpuProgram(std::move(model), engine, precision, std::move(note), *std::move(parts),
                     std::move(communicator), std::move(collectives)));
}

bool CpuProgram::accepts(Direction direction, size_t index, View view) const noexcept {
  const auto& boundaries = direction == Direction::kInput ? model_->inputs : model_->outputs;
  return index < boundaries.size() && accepts_view(boundaries[index], view);
}

ProgramInfo CpuProgram::info() const {
  ProgramInfo info{"cpu", precision_, note_, {}, parts_.weight_bytes, parts_.buffers.arena_bytes};
  for (const ProgramStep& step : parts_.steps) info.steps.push_back(step.info);
  return info;
}

}  // namespace millrace::device::cpu
