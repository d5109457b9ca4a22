// `millrace faults`: checks the text of a fault plan, explains it in sentences, and lists what
// happens to the first jobs of a program that runs with it.
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/faults/plan_words.h"
#include "cli/print_escaped.h"

namespace millrace::cli {
namespace {

using device::FaultPlan;
using device::FaultSettings;
using device::Work;

Work work_of(const FaultsArguments& arguments) {
  return arguments.transfers ? Work::kTransfer : Work::kJob;
}

bool is_random(const FaultSettings& settings) {
  const device::FaultRates& rates = settings.rates;
  bool random = rates.fail > 0 || rates.hang > 0 || rates.slow > 0;
  for (const device::FaultRule& rule : settings.rules) random |= rule.probability < 1 || rule.times;
  return random;
}

void print_explanation(const FaultSettings& settings, Work work) {
  const std::vector<ExplainedPart> parts = explain(settings, work);
  if (parts.empty()) return print_escaped("no faults\n");
  print_escaped("What {} does with this plan:\n",
                work == Work::kJob ? "MILLRACE_FAULTS" : "MILLRACE_TRANSFER_FAULTS");
  for (const ExplainedPart& part : parts) {
    print_escaped("{}\n", part.text);
    for (const std::string& sentence : part.sentences) print_escaped("    {}\n", sentence);
  }
  if (is_random(settings))
    print_escaped("Seed {} chooses the same ones in every run.\n", settings.seed);
}

// Lists the first jobs that have a fault, as if they were all of one unit and one model.
void print_jobs(const FaultSettings& settings, const FaultsArguments& arguments) {
  FaultPlan plan;
  plan.apply(settings);
  const char* noun = arguments.transfers ? "transfer" : "job";
  uint64_t affected = 0;
  for (uint64_t number = 1; number <= arguments.jobs; ++number) {
    const std::optional<std::string> fate = fate_of(plan.foresee({.number = number,
                                                                  .unit = arguments.unit,
                                                                  .number_in_unit = number,
                                                                  .model = arguments.model}));
    if (!fate) continue;
    ++affected;
    print_escaped("{} {}: {}\n", noun, number, *fate);
  }
  print_escaped("{} of {} {}s have a fault\n", affected, arguments.jobs, noun);
}

// Returns whether rules select by a name that the command line does not state.
bool needs_names(const FaultSettings& settings, const FaultsArguments& arguments) {
  for (const device::FaultRule& rule : settings.rules) {
    if (!rule.unit.empty() && arguments.unit.empty()) return true;
    if (!rule.model.empty() && arguments.model.empty()) return true;
  }
  return false;
}

}  // namespace

Status check_faults(const FaultsArguments& arguments) {
  return FaultPlan::parse(arguments.text, work_of(arguments)).status();
}

Status run_faults(const FaultsArguments& arguments) {
  const Work work = work_of(arguments);
  MILLRACE_ASSIGN_OR_RETURN(const FaultSettings settings, FaultPlan::parse(arguments.text, work));
  print_explanation(settings, work);
  if (arguments.jobs == 0) return {};
  print_escaped("\nWhat happens to the first {} {}s:\n", arguments.jobs,
                arguments.transfers ? "transfer" : "job");
  if (needs_names(settings, arguments))
    print_escaped("(--unit and --model say which unit and model the {}s below have)\n",
                  arguments.transfers ? "transfer" : "job");
  print_jobs(settings, arguments);
  return {};
}

}  // namespace millrace::cli
