// Measures the accuracy of classifiers on labelled data, and their agreement with the first of
// them. One thread.
#pragma once

#include "base/status.h"
#include "cli/commands.h"
#include "cli/evaluate/evaluation.h"
#include "cli/evaluate/evaluation_report.h"

namespace millrace::cli {

struct EvaluatedModels {
  EvaluationReport report;
  Evaluation evaluation;
};

// Runs all models on the data. Requirement: check_evaluate() accepts the arguments.
// kInvalidArgument: the inputs of the models differ. Other errors are those of load_model(),
// DataSet, read_labels() and Evaluation.
Result<EvaluatedModels> evaluate_models(const EvaluateArguments& arguments);

}  // namespace millrace::cli
