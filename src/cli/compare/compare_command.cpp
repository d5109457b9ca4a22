// `millrace compare`: prints how much the values of two models differ.
#include "cli/commands.h"
#include "cli/compare/compare_models.h"
#include "cli/compare/layer_report.h"
#include "cli/print_escaped.h"

namespace millrace::cli {

Result<int> run_compare(const CompareArguments& arguments) {
  MILLRACE_ASSIGN_OR_RETURN(const LayerReport report, compare_models(arguments));
  if (arguments.json)
    print_escaped_lines(layers_json(report));
  else
    print_layers_text(report);
  return is_within(report) ? 0 : kDifferent;
}

}  // namespace millrace::cli
