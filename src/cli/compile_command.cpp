// `millrace compile`: compiles an ONNX model to an archive, with calibration if the precision needs
// it, and prints what a user should know about the result: fixed batches, HW views of quantised
// tensors, operators on the CPU. Outputs are checked before any work is done, and written under
// CleanInterruption, so that a signal leaves no incomplete file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files/output_target.h"
#include "base/shell_word.h"
#include "cli/commands.h"
#include "cli/inputs/open_tensors.h"
#include "cli/model_source.h"
#include "cli/passes/graph_text.h"
#include "cli/passes/onnx_export.h"
#include "cli/passes/pass_dump.h"
#include "cli/print_escaped.h"
#include "cli/quantise/compile_calibrated.h"
#include "cli/quantise/hw_view_lines.h"
#include "cli/supervision/interruption.h"
#include "cli/tune/record_place.h"
#include "compiler/vendor_config.h"
#include "device/cpu/capabilities/capabilities.h"
#include "device/registry.h"
#include "graph/archive/codec.h"
#include "graph/network/network.h"
#include "graph/precision_name.h"
#include "io/file.h"
#include "lowering/operators/operator_table.h"
#include "lowering/placement/placement.h"
#include "lowering/shape_profile.h"
#include "lowering/stage.h"
#include "model/archive_writer.h"
#include "tensor/tensor_shape.h"

namespace millrace::cli {
namespace {

// Prints a note about inputs whose batch dimension is fixed in the model: it stays in their shapes,
// and --batch counts frames of this size.
void note_fixed_batch(const graph::CompiledModel& model) {
  for (const graph::Boundary& input : model.inputs)
    if (input.cpu.layout == tensor::Layout::kNchw && input.cpu.shape[0] > 1)
      print_escaped(
          "note: the shape of input \"{}\" has N={}: one frame is {}, and --batch counts such "
          "frames\n",
          input.cpu.name, input.cpu.shape[0], fmt::join(input.cpu.shape, "x"));
}

// Returns an attribute, or null if the operator has none of this name and type.
template <class T>
const T* attribute_of(const graph::Fallback& op, std::string_view name) {
  const auto entry = std::ranges::find(op.attributes, name, &graph::Attribute::name);
  return entry == op.attributes.end() ? nullptr : std::get_if<T>(&entry->value);
}

// Prints how the class names of an ai.onnx.ml classifier are represented: a tensor can hold neither
// the strings nor the maps that the standard declares.
void note_class_names(const graph::Fallback& op, const std::string& output) {
  const auto* names = attribute_of<std::vector<std::string>>(op, "classlabels_strings");
  const auto* numbers = attribute_of<graph::Dims>(op, "classlabels_int64s");
  const bool has_names = names != nullptr && !names->empty();
  const std::string classes = has_names            ? fmt::format("{}", fmt::join(*names, ", "))
                              : numbers != nullptr ? fmt::format("{}", fmt::join(*numbers, ", "))
                                                   : "";
  if (op.name == "ai.onnx.ml.ZipMap")
    print_escaped("note: \"{}\" is a tensor instead of a sequence of maps; its columns are: {}\n",
                  output, classes);
  else if (has_names)
    print_escaped("note: \"{}\" has the index of a class, from 0, instead of its name: {}\n",
                  output, classes);
}

bool is_used(const graph::Graph& graph, graph::ValueId id) {
  return std::ranges::count(graph.outputs, id) > 0 ||
         std::ranges::any_of(graph.nodes, [id](const graph::Node& node) {
           return std::ranges::count(node.inputs, id) > 0;
         });
}

// Prints the notes for all classifiers of the model. Unused outputs are skipped: if the model omits
// one, its name in the graph is not the model's.
void note_class_names(const graph::CompiledModel& model) {
  for (const graph::Node& node : model.graph.nodes) {
    const auto* op = std::get_if<graph::Fallback>(&node.op);
    if (op != nullptr && op->name.starts_with("ai.onnx.ml.") &&
        is_used(model.graph, node.outputs[0]))
      note_class_names(*op, model.graph.values[node.outputs[0]].name);
  }
  if (model.network == nullptr) return;
  for (const network::Node& node : model.network->nodes) {
    if (node.domain != "ai.onnx.ml" || node.outputs.empty() || node.outputs[0].empty()) continue;
    const Result<graph::Fallback> op = lowering::as_fallback(*model.network, node);
    if (op.ok()) note_class_names(*op, node.outputs[0]);
  }
}

bool is_given(const CompileFlags& flags, std::string_view option) {
  return std::ranges::find(flags.given, option) != flags.given.end();
}

// The settings of a compilation: the flags, completed by the configuration file.
struct Settings {
  CompileFlags flags;
  uint32_t columns = graph::kColumnsOfAUnit;
};

// Returns the flags, completed by the settings of the configuration file. Prints a note about
// settings that are ignored.
Result<Settings> read_settings(const CompileArguments& arguments) {
  Settings settings{arguments.flags};
  if (arguments.config.empty()) return settings;
  CompileFlags& flags = settings.flags;
  MILLRACE_ASSIGN_OR_RETURN(const compiler::VendorConfig config,
                            compiler::read_vendor_config(arguments.config));
  if (config.batch_size && !is_given(flags, "--batch")) flags.batch = *config.batch_size;
  if (config.precision && !is_given(flags, "--precision"))
    flags.precision = graph::name_of(*config.precision);
  if (!config.ignored.empty())
    print_escaped("note: {}: these settings are ignored: {}\n", arguments.config,
                  fmt::join(config.ignored, ", "));
  settings.columns = config.columns();
  return settings;
}

// Returns why shapes of the model are known only when a job runs: an open input, or else the first
// node whose output shape depends on elements (data-dependent).
std::string reason_of(const graph::CompiledModel& model) {
  const auto describe = [](const char* what, const graph::Boundary& tensor) {
    return fmt::format(
        "{} \"{}\" is {}", what, tensor.cpu.name,
        tensor.cpu.shape.empty() ? "of any rank" : tensor::to_string(tensor.cpu.shape));
  };
  const auto input = std::ranges::find_if(model.inputs, &graph::Boundary::open);
  if (input != model.inputs.end()) return describe("input", *input);
  const Result<lowering::Stage> stage =
      lowering::lower_whole(*model.network, device::cpu::capabilities(), true);
  if (!stage.ok() || stage->rest.empty()) return "shapes inside it depend on elements";
  const network::Node& node = model.network->nodes[stage->rest.front()];
  return fmt::format("the shape of \"{}\", an output of {}, depends on elements",
                     node.outputs.front(), node.type);
}

// Adds the profiles to the model. Lowers the model with each of them, so that every profile of an
// archive can be loaded.
Status add_profiles(const std::vector<std::string>& arguments, graph::CompiledModel* model) {
  if (!arguments.empty() && model->network == nullptr)
    return invalid_argument("--profile is for dynamic models; the shapes of this one are static");
  for (const std::string& argument : arguments) {
    MILLRACE_ASSIGN_OR_RETURN(graph::ShapeProfile profile, parse_profile(*model, argument));
    if (std::ranges::count(model->profiles, profile.name, &graph::ShapeProfile::name) != 0)
      return invalid_argument(
          fmt::format("--profile: two profiles are named \"{}\"", profile.name));
    MILLRACE_RETURN_IF_ERROR(
        lowering::lower_profile(*model, device::cpu::capabilities(), profile).status());
    model->profiles.push_back(std::move(profile));
  }
  return {};
}

void print_dynamic(const graph::CompiledModel& model, const std::string& output) {
  print_escaped("{}: dynamic, {} operators, {}, batch {}\n", output, model.network->nodes.size(),
                graph::name_of(model.precision), model.batch_size);
  const std::string for_static_apis =
      model.profiles.empty() ? "static models only"
                             : fmt::format("profile \"{}\" of it", model.profiles.front().name);
  print_escaped(
      "note: its shapes are known only when a job runs, since {}; the VART and NRT APIs take {}\n",
      reason_of(model), for_static_apis);
}

// Prints the nodes that --cpu-ops has moved to the CPU, grouped by the names given to it.
void print_cpu_operators(const graph::CompiledModel& model, const CompileFlags& flags) {
  const lowering::CpuOperators names(flags.cpu_operators.begin(), flags.cpu_operators.end());
  std::map<std::string, std::vector<std::string>> matched;
  for (const graph::Node& node : model.graph.nodes)
    for (const std::string& name : lowering::matching_names(node, names))
      matched[name].push_back(fmt::format("{} \"{}\"", operation_name(node.op), node.name));
  for (const auto& [name, nodes] : matched)
    print_escaped("on the CPU by {}: {}\n", name, fmt::join(nodes, ", "));
}

// Prints a note about leading dimensions that are assumed to be a batch. If one is not, results are
// wrong, since each of its entries becomes a frame of its own.
void note_assumed_frames(const std::vector<compiler::AssumedFrame>& frames) {
  for (const compiler::AssumedFrame& frame : frames) {
    std::vector<std::string> dims;
    for (const int64_t dim : frame.kept_open)
      dims.push_back(dim == network::Dimension::kOpen ? "?" : std::to_string(dim));
    print_escaped(
        "note: the leading dimension of input \"{0}\" is open and assumed to be the batch, so it "
        "is fixed to 1; if it is none, keep it open with --input-shape {2}={1}\n",
        frame.input, fmt::join(dims, ","), shell_word(frame.input));
  }
}

// Prints a note about a model of a later opset than those whose operators are known. If an operator
// has changed since without a new name or attribute, results are wrong.
void note_later_opset(int opset) {
  print_escaped(
      "note: the model uses opset {} of domain ai.onnx; its operators are taken for those of opset "
      "{}, the last that is known\n",
      opset, lowering::kMaxOpset);
}

// A compiled model. After calibration, `report` and `outputs` describe its accuracy; `hw_views` is
// present if the loss by requantised HW views was measured.
struct Compiled {
  graph::CompiledModel model;
  std::optional<QuantisationReport> report = {};
  quantise::OutputAgreement outputs = {};
  std::optional<quantise::HwViewCost> hw_views = {};
};

// Returns the options that differ from their defaults and that only calibration uses.
std::vector<std::string_view> calibration_options(const CalibrationFlags& flags) {
  const CalibrationFlags usual;
  const std::pair<std::string_view, bool> options[] = {
      {"--keep", !flags.keep.empty()},
      {"--calibrate-samples", flags.samples != usual.samples},
      {"--calibrate-method", flags.method != usual.method},
      {"--quantise-outputs", flags.quantise_outputs},
      {"--power-of-two-scales", flags.power_of_two_scales},
      {"--no-equalisation", flags.no_equalisation},
      {"--no-bias-correction", flags.no_bias_correction}};
  std::vector<std::string_view> given;
  for (const auto& [name, is_given] : options)
    if (is_given) given.push_back(name);
  return given;
}

// Options without effect are no error: scripts pass the same options for several precisions.
void note_unused_options(const CalibrationFlags& flags) {
  if (const auto unused = calibration_options(flags); !unused.empty())
    print_escaped("note: without --precision int8 or auto these have no effect: {}\n",
                  fmt::join(unused, ", "));
}

// Compiles the model, with calibration if the precision needs it, or measures the HW views of a
// model that is quantised already on calibration data.
Result<Compiled> compile_with(const CompileArguments& arguments, const CompileFlags& flags,
                              const CompileObserver& observer) {
  CalibrationFlags calibration = arguments.calibration;
  calibration.split_sums = !arguments.emit_qdq.empty() && flags.precision == kInt8;
  if (needs_calibration(flags.precision)) {
    MILLRACE_ASSIGN_OR_RETURN(CalibratedModel made,
                              compile_calibrated(arguments.onnx, flags, calibration, observer));
    return Compiled{std::move(made.model), std::move(made.report), made.outputs,
                    std::move(made.hw_views)};
  }
  if (calibration.data.empty()) note_unused_options(calibration);
  MILLRACE_ASSIGN_OR_RETURN(graph::CompiledModel model,
                            compile_onnx(arguments.onnx, flags, observer));
  Compiled compiled{std::move(model)};
  if (calibration.data.empty()) return compiled;
  MILLRACE_ASSIGN_OR_RETURN(compiled.hw_views, measure_hw_views(compiled.model, calibration));
  return compiled;
}

// Compiles the model, and writes the files of --dump-passes and --emit-qdq on the way.
Result<Compiled> compile_and_dump(const CompileArguments& arguments, const CompileFlags& flags) {
  const bool dumps = !arguments.dump_passes.empty(), exports = !arguments.emit_qdq.empty();
  std::optional<PassDump> dump;
  if (dumps) {
    MILLRACE_ASSIGN_OR_RETURN(dump, PassDump::into(arguments.dump_passes));
  }
  OnnxExport onnx;
  CompileObserver observer{{}, note_assumed_frames, note_later_opset};
  if (dumps || exports) {
    observer.on_stage = [&](std::string_view stage, const graph::Graph& graph) {
      if (dumps) dump->write(stage, graph);
      if (exports) onnx.see(stage, graph);
    };
  }
  auto compiled = compile_with(arguments, flags, observer);
  if (dumps) MILLRACE_RETURN_IF_ERROR(dump->status());
  if (dumps && compiled.ok() && compiled->model.network != nullptr)
    return invalid_argument(
        "--dump-passes: some shapes of this model are known only when a job runs, so the passes "
        "run then; fix its open dimensions with --input-shape to dump them");
  if (exports && compiled.ok()) MILLRACE_RETURN_IF_ERROR(onnx.write(arguments.emit_qdq));
  return compiled;
}

// Prints which precisions were chosen and the loss of accuracy. Writes the HTML report to the file
// `page`, unless it is empty.
Status show(const QuantisationReport& report, const quantise::OutputAgreement& outputs,
            const std::string& page) {
  print_escaped_lines(quantisation_text(report));
  print_escaped("  outputs against fp32: mean cosine {:.5f}, worst sample {:.5f}\n",
                outputs.mean_cosine, outputs.worst_cosine);
  if (page.empty()) return {};
  const std::string html = quantisation_html(report);
  return io::write_file(page, std::as_bytes(std::span(html)));
}

// Whether two paths lead to the same existing file.
bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return std::filesystem::equivalent(a, b, error);
}

// Whether two paths lead to the same place; the files need not exist yet.
bool same_place(const std::string& a, const std::string& b) {
  std::error_code error;
  return std::filesystem::weakly_canonical(a, error) == std::filesystem::weakly_canonical(b, error);
}

model::ArchiveForm form_of(const CompileArguments& arguments) {
  return arguments.format == "dir" ? model::ArchiveForm::kDirectory : model::ArchiveForm::kFile;
}

// Rejects outputs that would replace the model, another output, or a file that must be kept.
Status check_outputs(const CompileArguments& arguments) {
  const std::string& report = arguments.calibration.report;
  MILLRACE_RETURN_IF_ERROR(model::check_archive_target(arguments.output, form_of(arguments)));
  MILLRACE_RETURN_IF_ERROR(form_of(arguments) == model::ArchiveForm::kFile
                               ? check_output(arguments.output)
                               : check_output_folder(arguments.output));
  MILLRACE_RETURN_IF_ERROR(check_output_folder(arguments.dump_passes));
  for (const std::string& other : {arguments.emit_qdq, report})
    MILLRACE_RETURN_IF_ERROR(check_output(other));
  for (const std::string& output : {arguments.output, arguments.emit_qdq, report})
    if (same_file(arguments.onnx, output))
      return invalid_argument(output + " is the model itself: choose another output");
  for (const std::string& other : {arguments.emit_qdq, report})
    if (!other.empty() && same_place(other, arguments.output))
      return invalid_argument(other + " is the archive itself: choose another output");
  return {};
}

// Before any work is done, rejects outputs with which the written archive could not be tuned.
Status check_tuning(const CompileArguments& arguments) {
  if (arguments.output.ends_with(".onnx"))
    return invalid_argument(
        fmt::format("--tune loads the archive, and {} would be taken for an ONNX file: choose "
                    "another output",
                    arguments.output));
  const std::string record = record_beside(arguments.output);
  for (const std::string& other :
       {arguments.onnx, arguments.emit_qdq, arguments.calibration.report})
    if (!other.empty() && same_place(other, record))
      return invalid_argument(other + " is where --tune keeps its times: choose another name");
  return device::open_device_of_program(kTunedDevice).status().with_context("--tune");
}

Status tune_archive(const CompileArguments& arguments) {
  TuneArguments tuning;
  tuning.model = arguments.output;
  tuning.shapes = arguments.tune_shapes;
  return run_tune(tuning).with_context("the archive is written, but not tuned");
}

Status compile_to_archive(const CompileArguments& arguments) {
  MILLRACE_ASSIGN_OR_RETURN(const Settings settings, read_settings(arguments));
  const CompileFlags& flags = settings.flags;
  MILLRACE_ASSIGN_OR_RETURN(Compiled compiled, compile_and_dump(arguments, flags));
  graph::CompiledModel& model = compiled.model;
  MILLRACE_RETURN_IF_ERROR(add_profiles(arguments.profiles, &model));
  CleanInterruption interruption;
  MILLRACE_RETURN_IF_ERROR(interruption.start());
  MILLRACE_RETURN_IF_ERROR(model::write_archive(graph::encode(model, settings.columns),
                                                arguments.output, form_of(arguments)));
  if (model.network != nullptr) {
    print_dynamic(model, arguments.output);
    note_class_names(model);
    return {};
  }
  const std::string partitions =
      model.partitions.size() > 1 ? fmt::format("{} partitions, ", model.partitions.size()) : "";
  const std::string columns = settings.columns == graph::kColumnsOfAUnit
                                  ? ""
                                  : fmt::format(", {} columns", settings.columns);
  print_escaped("{}: {} operators, {}{:.2f} MB of weights, {}, batch {}{}\n", arguments.output,
                model.graph.nodes.size(), partitions,
                static_cast<double>(weight_bytes(model)) * 1e-6,
                graph::precision_name(model, model.precision), model.batch_size, columns);
  const quantise::HwViewCost* const cost = compiled.hw_views ? &*compiled.hw_views : nullptr;
  for (const std::string& line : hw_view_lines(model, cost)) print_escaped("{}\n", line);
  print_cpu_operators(model, flags);
  note_fixed_batch(model);
  note_class_names(model);
  return compiled.report ? show(*compiled.report, compiled.outputs, arguments.calibration.report)
                         : Status();
}

}  // namespace

Status check_compile(const CompileArguments& arguments) {
  MILLRACE_RETURN_IF_ERROR(check_compile_flags(arguments.flags));
  MILLRACE_RETURN_IF_ERROR(check_shape_texts("--shape", arguments.tune_shapes));
  if (needs_calibration(arguments.flags.precision))
    return check_calibration(arguments.flags, arguments.calibration);
  if (!arguments.calibration.report.empty() || !arguments.calibration.accuracy_target.empty())
    return invalid_argument("--accuracy-target and --report are for --precision int8 and auto");
  return picture_options(arguments.calibration.picture).status();
}

Status run_compile(const CompileArguments& arguments) {
  MILLRACE_RETURN_IF_ERROR(check_outputs(arguments));
  if (arguments.tune) MILLRACE_RETURN_IF_ERROR(check_tuning(arguments));
  MILLRACE_RETURN_IF_ERROR(compile_to_archive(arguments));
  return arguments.tune ? tune_archive(arguments) : Status();
}

}  // namespace millrace::cli
