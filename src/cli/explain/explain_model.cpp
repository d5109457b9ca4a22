#include "cli/explain/explain_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/explain/explanation.h"
#include "cli/explain/lone_rank.h"
#include "cli/explain/node_times.h"
#include "cli/inputs/job_buffers.h"
#include "cli/inputs/open_tensors.h"
#include "cli/inputs/random_inputs.h"
#include "cli/model_source.h"
#include "cli/progress.h"
#include "device/registry.h"
#include "graph/collective.h"
#include "runtime/loading/profile.h"
#include "runtime/session.h"

namespace millrace::cli {
namespace {

// Profiles `runs` jobs of whole batches, one at a time. A first job is not counted, since it
// touches memory for the first time.
Result<runtime::ProfileTotals> measure(const LoadedModel& loaded, uint32_t runs) {
  const graph::CompiledModel& model = loaded.program->model();
  const auto profile = std::make_shared<runtime::Profile>(*loaded.program);
  MILLRACE_ASSIGN_OR_RETURN(const auto warm_up,
                            runtime::Session::create(loaded.device, loaded.program));
  MILLRACE_ASSIGN_OR_RETURN(
      const auto session,
      runtime::Session::create(loaded.device, loaded.program, {.profile = profile}));
  constexpr device::View kView = device::View::kHw;
  MILLRACE_ASSIGN_OR_RETURN(
      const JobBuffers buffers,
      JobBuffers::allocate(model, model.inputs, model.batch_size, kView, kView));
  MILLRACE_RETURN_IF_ERROR(fill_inputs(model.inputs, kView, buffers));
  MILLRACE_RETURN_IF_ERROR(warm_up->execute(buffers.bindings()));
  Progress progress("profile");
  for (uint32_t i = 0; i < runs; ++i) {
    MILLRACE_RETURN_IF_ERROR(session->execute(buffers.bindings()));
    progress.update(fmt::format("{} of {}", i + 1, runs));
  }
  return profile->totals();
}

// Returns an attribute; null if the operator has no such attribute or it is not an integer.
const int64_t* integer_of(const graph::Fallback& op, std::string_view name) {
  const auto found = std::ranges::find(op.attributes, name, &graph::Attribute::name);
  return found == op.attributes.end() ? nullptr : std::get_if<int64_t>(&found->value);
}

// Returns the least number of ranks of a collective that takes any number: two, or enough for its
// root.
int64_t least_ranks(const int64_t* root) {
  return root == nullptr ? 2 : std::max<int64_t>(2, *root + 1);
}

// Returns the number of ranks that the model needs; 1 if it has no collectives.
uint32_t ranks_of(const graph::CompiledModel& model) {
  int64_t ranks = 1;
  for (const graph::Node& node : model.graph.nodes) {
    if (!graph::is_collective(node.op)) continue;
    const auto& op = std::get<graph::Fallback>(node.op);
    if (const int64_t* const size = integer_of(op, "group_size"); size != nullptr)
      ranks = std::max(ranks, *size);
    else if (graph::takes_any_ranks(*graph::collective_of(op)))
      ranks = std::max(ranks, least_ranks(integer_of(op, "root")));
  }
  return static_cast<uint32_t>(ranks);
}

Result<LoadedModel> load_to_explain(const ExplainArguments& arguments,
                                    std::shared_ptr<const graph::CompiledModel> model) {
  const uint32_t ranks = ranks_of(*model);
  if (ranks == 1) return load_on(arguments.device, std::move(model));
  if (arguments.profile)
    return unsupported(
        fmt::format("--profile: the model needs {} ranks, which one process cannot run", ranks));
  LoadedModel loaded;
  MILLRACE_ASSIGN_OR_RETURN(loaded.device, device::open_device_of_program(arguments.device));
  MILLRACE_ASSIGN_OR_RETURN(
      loaded.program,
      loaded.device->load_for_rank(std::move(model), std::make_shared<LoneRank>(ranks)));
  return loaded;
}

// Explains the model of one file.
Result<nlohmann::ordered_json> explain_one(const ExplainArguments& arguments,
                                           const std::string& path) {
  MILLRACE_ASSIGN_OR_RETURN(auto model, open_static_model(path, arguments.flags, arguments.shapes));
  MILLRACE_ASSIGN_OR_RETURN(const LoadedModel loaded, load_to_explain(arguments, std::move(model)));
  std::optional<runtime::ProfileTotals> profile;
  if (arguments.profile) {
    MILLRACE_ASSIGN_OR_RETURN(profile, measure(loaded, arguments.runs));
  }
  const auto& names = arguments.flags.cpu_operators;
  return explain(*loaded.program, loaded.device->capabilities(), {names.begin(), names.end()},
                 profile ? &*profile : nullptr);
}

}  // namespace

Status check_explain(const ExplainArguments& arguments) {
  MILLRACE_RETURN_IF_ERROR(check_shape_texts("--shape", arguments.shapes));
  // Options of the compiler have an effect if one of both files is to be compiled.
  const bool compiles_other = arguments.against.ends_with(".onnx");
  return check_flags(compiles_other ? arguments.against : arguments.model, arguments.flags);
}

Result<nlohmann::ordered_json> explain_model(const ExplainArguments& arguments) {
  MILLRACE_ASSIGN_OR_RETURN(auto explanation, explain_one(arguments, arguments.model));
  if (arguments.against.empty()) return explanation;
  MILLRACE_ASSIGN_OR_RETURN(auto other, explain_one(arguments, arguments.against));
  explanation["by_node"] = times_by_node(explanation, other);
  explanation["against"] = std::move(other);
  return explanation;
}

}  // namespace millrace::cli
