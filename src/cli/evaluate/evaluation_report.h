// The report of `millrace evaluate`. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/evaluate/evaluation.h"

namespace millrace::cli {

struct EvaluatedModel {
  std::string path;
  std::string precision;
};

struct EvaluationReport {
  std::vector<EvaluatedModel> models;
  uint32_t top = 5;
  bool labelled = true;
};

// Returns a table with a line for each model.
std::string evaluation_text(const EvaluationReport& report, const Evaluation& evaluation);

// Returns the same as JSON:
//
//   {"samples": 1200, "classes": 40, "top": 5, "models": [
//     {"model": "a.rai", "precision": "fp32", "top1": 0.998, "top1_samples": 1198,
//      "top5": 1, "top5_samples": 1200},                   if there are labels
//     {..., "same_top1": 0.999, "same_top1_samples": 1199, "cosine_mean": 0.9999,
//      "cosine_least": 0.998, "cosine_least_sample": "images.npy[17]"}]}    except the first model
std::string evaluation_json(const EvaluationReport& report, const Evaluation& evaluation);

}  // namespace millrace::cli
