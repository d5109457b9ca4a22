#include "lowering/finish.h"

#include <fmt/format.h>

#include "lowering/assemble.h"
#include "lowering/passes/pass_table.h"

namespace millrace::lowering {
namespace {

void report_stage(const LoweringOptions& options, std::string_view stage,
                  const graph::Graph& graph) {
  if (options.on_stage) options.on_stage(stage, graph);
}

}  // namespace

Result<graph::CompiledModel> finish(graph::Graph graph, const LoweringOptions& options,
                                    std::string name) {
  report_stage(options, "import", graph);
  FoldingBudget budget = options.budget;
  for (const Pass& pass : pass_table()) {
    MILLRACE_RETURN_IF_ERROR(
        pass.run(graph, {options.precision, options.cpu_operators, options.full_precision,
                         options.as_written, options.attention_in_parts, options.capabilities,
                         &budget, options.derived})
            .with_context(pass.name));
    report_stage(options, pass.name, graph);
  }
  if (Status status = graph::validate(graph); !status.ok())
    return internal_error(fmt::format("after all passes: {}", status.message()));
  // The lowering has checked its own nodes. The passes may have replaced them by nodes of operators
  // or types for which there is no kernel.
  MILLRACE_RETURN_IF_ERROR(options.capabilities.check(graph));
  return assemble(std::move(graph), options, std::move(name));
}

}  // namespace millrace::lowering
