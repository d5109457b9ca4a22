// millrace explain: which kernel runs each operator, in which layouts, where and why.
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "cli/commands.h"
#include "cli/explain/explanation.h"
#include "cli/inputs/job_buffers.h"
#include "cli/inputs/random_inputs.h"
#include "cli/model_source.h"
#include "cli/progress.h"
#include "runtime/loading/profile.h"
#include "runtime/session.h"

namespace millrace::cli {
namespace {

// Jobs of full batches, each alone. The first is not counted: memory is touched there.
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

}  // namespace

Status run_explain(const ExplainArguments& arguments) {
  MILLRACE_ASSIGN_OR_RETURN(auto model,
                            open_static_model(arguments.model, arguments.flags, arguments.shapes));
  MILLRACE_ASSIGN_OR_RETURN(const LoadedModel loaded, load_on(arguments.device, std::move(model)));
  std::optional<runtime::ProfileTotals> profile;
  if (arguments.profile) {
    MILLRACE_ASSIGN_OR_RETURN(profile, measure(loaded, arguments.runs));
  }
  const auto& names = arguments.flags.cpu_operators;
  const auto explanation =
      explain(*loaded.program, {names.begin(), names.end()}, profile ? &*profile : nullptr);
  if (arguments.json)
    fmt::print("{}\n",
               explanation.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  else
    print_explanation(explanation);
  return {};
}

}  // namespace millrace::cli
