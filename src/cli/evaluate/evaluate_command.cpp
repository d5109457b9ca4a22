// `millrace evaluate`: prints the accuracy of a classifier on labelled data, and its agreement with
// other compilations.
#include "cli/commands.h"
#include "cli/evaluate/evaluate_models.h"
#include "cli/print_escaped.h"

namespace millrace::cli {

Status run_evaluate(const EvaluateArguments& arguments) {
  MILLRACE_ASSIGN_OR_RETURN(const EvaluatedModels models, evaluate_models(arguments));
  const auto form = arguments.json ? evaluation_json : evaluation_text;
  print_escaped_lines(form(models.report, models.evaluation));
  return {};
}

}  // namespace millrace::cli
