// `millrace explain`: shows which kernel runs each operator, in which layouts, where and why and,
// with --profile, the share of the time of each step; with --against, the times of two compilations
// of a model by node.
#include "cli/commands.h"
#include "cli/explain/explain_model.h"
#include "cli/explain/explanation.h"
#include "cli/explain/node_times.h"
#include "cli/print_escaped.h"
#include "cli/report/json_text.h"

namespace millrace::cli {

Status run_explain(const ExplainArguments& arguments) {
  MILLRACE_ASSIGN_OR_RETURN(const auto explanation, explain_model(arguments));
  if (arguments.json)
    print_escaped_lines(json_lines(explanation));
  else
    (explanation.contains("against") ? print_comparison : print_explanation)(explanation);
  return {};
}

}  // namespace millrace::cli
