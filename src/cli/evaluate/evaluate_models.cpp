// Every sample is read once and given to all models in turn; each model has jobs in flight of its
// own.
#include "cli/evaluate/evaluate_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/data/data_set.h"
#include "cli/data/labels.h"
#include "cli/data/picture_flags.h"
#include "cli/evaluate/sample_runner.h"
#include "cli/evaluate/scores.h"
#include "cli/inputs/open_tensors.h"
#include "cli/inputs/picture_note.h"
#include "cli/model_source.h"
#include "cli/notes.h"
#include "cli/progress.h"
#include "graph/precision_name.h"

namespace millrace::cli {
namespace {

struct OpenedModel {
  std::string path;
  LoadedModel loaded;
  std::vector<graph::Boundary> inputs;  // with the shapes of open ones
  size_t output = 0;
};

Result<OpenedModel> open(const std::string& path, const EvaluateArguments& arguments) {
  OpenedModel model{path, {}, {}, 0};
  MILLRACE_ASSIGN_OR_RETURN(model.loaded, load_model(path, arguments.flags, arguments.device, 0,
                                                     {.stated_precision = true}));
  const graph::CompiledModel& compiled = model.loaded.program->model();
  MILLRACE_ASSIGN_OR_RETURN(const GivenShapes shapes, parse_shapes(compiled, arguments.shapes));
  MILLRACE_ASSIGN_OR_RETURN(model.inputs, settled_inputs(compiled, shapes));
  MILLRACE_ASSIGN_OR_RETURN(model.output, score_output(compiled, arguments.output));
  return model;
}

// Samples are converted to the inputs of the first model, so those of the others must be the same.
Status check_same_inputs(const OpenedModel& first, const OpenedModel& other) {
  const auto same = [](const graph::Boundary& a, const graph::Boundary& b) {
    return a.cpu.type == b.cpu.type && a.cpu.shape == b.cpu.shape;
  };
  if (std::ranges::equal(first.inputs, other.inputs, same)) return {};
  return invalid_argument(
      fmt::format("the inputs of {} and {} differ in type or shape", other.path, first.path));
}

Result<std::vector<OpenedModel>> open_models(const EvaluateArguments& arguments) {
  std::vector<std::string> paths = {arguments.model};
  paths.insert(paths.end(), arguments.against.begin(), arguments.against.end());
  std::vector<OpenedModel> models;
  for (const std::string& path : paths) {
    Result<OpenedModel> model = open(path, arguments);
    if (!model.ok()) return model.status().with_context(path);
    if (!models.empty()) MILLRACE_RETURN_IF_ERROR(check_same_inputs(models.front(), *model));
    models.push_back(*std::move(model));
  }
  return models;
}

// The classes of the chosen samples, if there are labels, and the number of classes with a name.
struct ChosenLabels {
  std::optional<std::vector<size_t>> classes;
  size_t named = 0;
};

Result<ChosenLabels> labels_of(const DataSet& data, const std::vector<size_t>& chosen,
                               const EvaluateArguments& arguments) {
  if (arguments.labels.empty()) return ChosenLabels();
  MILLRACE_ASSIGN_OR_RETURN(const Labels labels,
                            read_labels(data, arguments.labels, arguments.classes));
  std::vector<size_t> of_chosen;
  of_chosen.reserve(chosen.size());
  for (const size_t sample : chosen) of_chosen.push_back(labels.classes[sample]);
  return ChosenLabels{std::move(of_chosen), labels.names.size()};
}

using Runners = std::vector<std::unique_ptr<SampleRunner>>;

Result<Runners> make_runners(const std::vector<OpenedModel>& models, Evaluation& evaluation) {
  Runners runners;
  for (size_t i = 0; i < models.size(); ++i) {
    const auto score = [&evaluation, i](const std::string& sample, std::vector<float> scores) {
      return evaluation.add(i, sample, std::move(scores));
    };
    MILLRACE_ASSIGN_OR_RETURN(auto runner, SampleRunner::create(models[i].loaded, models[i].inputs,
                                                                models[i].output, score));
    runners.push_back(std::move(runner));
  }
  return runners;
}

Status run_all(DataSet& data, const std::vector<size_t>& chosen,
               const std::vector<OpenedModel>& models, Evaluation& evaluation) {
  MILLRACE_ASSIGN_OR_RETURN(const Runners runners, make_runners(models, evaluation));
  const auto named = [&](const Status& status, size_t model) {
    return status.ok() ? status : status.with_context(models[model].path);
  };
  Progress progress("evaluate");
  for (const size_t index : chosen) {
    MILLRACE_ASSIGN_OR_RETURN(const Sample sample, data.load(index));
    for (size_t i = 0; i < runners.size(); ++i)
      MILLRACE_RETURN_IF_ERROR(named(runners[i]->add(sample), i));
    progress.update(progress_bar(evaluation.samples(), chosen.size()));
  }
  for (size_t i = 0; i < runners.size(); ++i)
    MILLRACE_RETURN_IF_ERROR(named(runners[i]->finish(), i));
  return {};
}

EvaluationReport report_of(const std::vector<OpenedModel>& models,
                           const EvaluateArguments& arguments) {
  EvaluationReport report;
  for (const OpenedModel& model : models) {
    const device::Program& program = *model.loaded.program;
    report.models.push_back(
        {model.path, graph::precision_name(program.model(), program.info().precision)});
  }
  report.top = arguments.top;
  report.labelled = !arguments.labels.empty();
  return report;
}

}  // namespace

Status check_evaluate(const EvaluateArguments& arguments) {
  if (arguments.labels.empty() && arguments.against.empty())
    return invalid_argument("evaluate needs --labels, or --against another model, or both");
  MILLRACE_RETURN_IF_ERROR(picture_options(arguments.picture).status());
  MILLRACE_RETURN_IF_ERROR(check_shape_texts("--shape", arguments.shapes));
  MILLRACE_RETURN_IF_ERROR(check_flags(arguments.model, arguments.flags));
  for (const std::string& other : arguments.against)
    MILLRACE_RETURN_IF_ERROR(check_flags(other, arguments.flags));
  return {};
}

Result<EvaluatedModels> evaluate_models(const EvaluateArguments& arguments) {
  MILLRACE_ASSIGN_OR_RETURN(const io::PictureOptions picture, picture_options(arguments.picture));
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<OpenedModel> models, open_models(arguments));
  MILLRACE_ASSIGN_OR_RETURN(DataSet data,
                            DataSet::open(models.front().inputs, arguments.data, picture));
  const std::vector<size_t> chosen =
      data.spread(arguments.limit == 0 ? data.size() : arguments.limit);
  MILLRACE_ASSIGN_OR_RETURN(ChosenLabels labels, labels_of(data, chosen, arguments));
  if (const auto input = data.input_of_pictures())
    note_unstated_preprocessing(models.front().loaded.program->model(),
                                models.front().inputs[*input], arguments.picture);
  Evaluation evaluation(models.size(), arguments.top, std::move(labels.classes));
  MILLRACE_RETURN_IF_ERROR(run_all(data, chosen, models, evaluation));
  if (labels.named > 0 && labels.named < evaluation.classes())
    print_note(fmt::format("the list of classes has {} names, but the model has {} classes",
                           labels.named, evaluation.classes()));
  return EvaluatedModels{report_of(models, arguments), std::move(evaluation)};
}

}  // namespace millrace::cli
