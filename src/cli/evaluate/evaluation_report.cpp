#include "cli/evaluate/evaluation_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/report/json_text.h"

namespace millrace::cli {
namespace {

using Json = nlohmann::ordered_json;

double share(size_t part, const Evaluation& evaluation) {
  return static_cast<double>(part) / static_cast<double>(evaluation.samples());
}

double mean_cosine(const ModelResult& result, const Evaluation& evaluation) {
  return result.agreement.cosine_sum / static_cast<double>(evaluation.samples());
}

bool has_top(const EvaluationReport& report) {
  return report.labelled && report.top > 1;
}

std::string percent(size_t part, const Evaluation& evaluation) {
  return fmt::format("{:.2f} % ({})", 100 * share(part, evaluation), part);
}

size_t widest_path(const EvaluationReport& report) {
  size_t widest = 0;
  for (const EvaluatedModel& model : report.models) widest = std::max(widest, model.path.size());
  return widest;
}

std::string heading(const EvaluationReport& report, size_t path_width) {
  std::string line = fmt::format("{:<{}}  precision", "model", path_width);
  if (report.labelled) line += fmt::format("  {:<16}", "top-1");
  if (has_top(report)) line += fmt::format("  {:<16}", fmt::format("top-{}", report.top));
  if (report.models.size() > 1)
    line += fmt::format("  {:<16}  cosine mean, least", "top-1 as first");
  return line;
}

std::string row(const EvaluationReport& report, const Evaluation& evaluation, size_t model,
                size_t path_width) {
  const ModelResult& result = evaluation.results()[model];
  std::string line = fmt::format("{:<{}}  {:<9}", report.models[model].path, path_width,
                                 report.models[model].precision);
  if (report.labelled) line += fmt::format("  {:<16}", percent(result.top1, evaluation));
  if (has_top(report)) line += fmt::format("  {:<16}", percent(result.top, evaluation));
  if (model > 0)
    line += fmt::format("  {:<16}  {:.6f}, {:.6f}", percent(result.agreement.same_top1, evaluation),
                        mean_cosine(result, evaluation), result.agreement.cosine_least);
  return line;
}

std::string without_blanks_behind(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

Json model_json(const EvaluationReport& report, const Evaluation& evaluation, size_t model) {
  const ModelResult& result = evaluation.results()[model];
  Json json = {{"model", report.models[model].path}, {"precision", report.models[model].precision}};
  const auto add = [&](const std::string& name, size_t samples) {
    json[name] = share(samples, evaluation);
    json[name + "_samples"] = samples;
  };
  if (report.labelled) add("top1", result.top1);
  if (has_top(report)) add(fmt::format("top{}", report.top), result.top);
  if (model == 0) return json;
  add("same_top1", result.agreement.same_top1);
  json["cosine_mean"] = mean_cosine(result, evaluation);
  json["cosine_least"] = result.agreement.cosine_least;
  json["cosine_least_sample"] = result.agreement.least_sample;
  return json;
}

}  // namespace

std::string evaluation_text(const EvaluationReport& report, const Evaluation& evaluation) {
  const size_t width = widest_path(report);
  std::string text = fmt::format("{} sample{}, {} classes\n", evaluation.samples(),
                                 evaluation.samples() == 1 ? "" : "s", evaluation.classes());
  text += without_blanks_behind(heading(report, width)) + "\n";
  for (size_t model = 0; model < report.models.size(); ++model)
    text += without_blanks_behind(row(report, evaluation, model, width)) + "\n";
  return text;
}

std::string evaluation_json(const EvaluationReport& report, const Evaluation& evaluation) {
  Json json = {{"samples", evaluation.samples()},
               {"classes", evaluation.classes()},
               {"top", report.top},
               {"models", Json::array()}};
  for (size_t model = 0; model < report.models.size(); ++model)
    json["models"].push_back(model_json(report, evaluation, model));
  return json_lines(json);
}

}  // namespace millrace::cli
