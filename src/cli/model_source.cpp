// Translates the options of the compiler, which are checked here as far as the parser of the
// command line cannot, and chooses between compiling and decoding by the name of the file.
#include "cli/model_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "cli/inputs/open_tensors.h"
#include "cli/name_value.h"
#include "cli/progress.h"
#include "device/cpu/capabilities/capabilities.h"
#include "device/registry.h"
#include "graph/archive/codec.h"
#include "graph/network/network.h"
#include "lowering/shape_profile.h"
#include "model/archive.h"
#include "runtime/loading/memory_limit.h"

namespace millrace::cli {
namespace {

// Parses a shape such as "1,3,?,?", in which ? leaves a dimension open.
Result<graph::Dims> parse_dims(const std::string& text) {
  graph::Dims dims = parse_numbers<int64_t>(text, 1, network::Dimension::kOpen);
  if (!dims.empty()) return dims;
  return invalid_argument(fmt::format("'{}' is not a shape; write it like 1,3,224,224", text));
}

// Parses a layout such as "NHWC", or "GENERIC:0,2,3,1" with an order of dimensions.
Result<compiler::HwLayout> parse_hw_layout(const std::string& text) {
  const auto colon = std::ranges::find(text, ':');
  MILLRACE_ASSIGN_OR_RETURN(const tensor::Layout layout,
                            tensor::parse_layout(std::string(text.begin(), colon)));
  if (colon == text.end()) return compiler::HwLayout{layout};
  const std::string_view numbers(colon + 1, text.end());
  std::vector<uint32_t> order = parse_numbers<uint32_t>(numbers, 0);
  if (!order.empty()) return compiler::HwLayout{layout, std::move(order)};
  return invalid_argument(
      fmt::format("'{}' is not a layout with an order; write it like GENERIC:0,2,3,1", text));
}

// Returns the precision of the floating point operators for a value of --precision: FP32 for int8,
// BF16 for auto. Requirement: the option takes the name.
graph::Precision precision_named(std::string_view name) {
  constexpr std::array kAll = {graph::Precision::kFp32, graph::Precision::kBf16,
                               graph::Precision::kFp16};
  if (name == kAuto) return graph::Precision::kBf16;
  const auto is_named = [&](graph::Precision precision) { return name == name_of(precision); };
  const auto* const found = std::ranges::find_if(kAll, is_named);
  return found == kAll.end() ? graph::Precision::kFp32 : *found;
}

Result<compiler::CompileOptions> options_from(const CompileFlags& flags) {
  compiler::CompileOptions options;
  options.batch_size = flags.batch;
  options.precision = precision_named(flags.precision);
  for (const std::string& text : flags.hw_layouts) {
    MILLRACE_ASSIGN_OR_RETURN(const NameValue entry, split_name_value(text));
    MILLRACE_ASSIGN_OR_RETURN(compiler::HwLayout layout, parse_hw_layout(entry.value));
    if (!options.hw_layouts.emplace(entry.name, std::move(layout)).second)
      return invalid_argument(fmt::format("--hw-layout: '{}' is given two layouts", entry.name));
  }
  options.hw_quantisation = flags.hw_quantisation == name_of(graph::HwQuantisation::kModel)
                                ? graph::HwQuantisation::kModel
                                : graph::HwQuantisation::kVendor;
  options.as_written = flags.reference;
  options.attention_in_parts = flags.attention_in_parts;
  options.cpu_operators.insert(flags.cpu_operators.begin(), flags.cpu_operators.end());
  options.full_precision.insert(flags.full_precision.begin(), flags.full_precision.end());
  for (const std::string& text : flags.input_shapes) {
    MILLRACE_ASSIGN_OR_RETURN(const NameValue entry, split_name_value(text));
    MILLRACE_ASSIGN_OR_RETURN(graph::Dims dims, parse_dims(entry.value));
    if (!options.input_shapes.emplace(entry.name, std::move(dims)).second)
      return invalid_argument(
          fmt::format("--input-shape: input '{}' is given two shapes", entry.name));
  }
  return options;
}

}  // namespace

bool needs_calibration(const std::string& precision) {
  return precision == kInt8 || precision == kAuto;
}

Status check_flags(const std::string& model, const CompileFlags& flags) {
  if (!model.ends_with(".onnx") && !flags.given.empty())
    return invalid_argument(fmt::format("{} applies to .onnx files only: {} is compiled already",
                                        flags.given.front(), model));
  if (needs_calibration(flags.precision))
    return invalid_argument(fmt::format(
        "{0} needs calibration: millrace compile --precision {0} --calibrate DATA writes "
        "an archive, which every command accepts",
        flags.precision));
  return options_from(flags).status();
}

Status check_compile_flags(const CompileFlags& flags) {
  return options_from(flags).status();
}

Result<lowering::LoweringOptions> lowering_options(const CompileFlags& flags) {
  MILLRACE_ASSIGN_OR_RETURN(compiler::CompileOptions options, options_from(flags));
  lowering::LoweringOptions lowering;
  lowering.capabilities = options.capabilities;
  lowering.batch_size = options.batch_size;
  lowering.precision = options.precision;
  lowering.attention_in_parts = options.attention_in_parts;
  lowering.hw_layouts = std::move(options.hw_layouts);
  lowering.hw_quantisation = options.hw_quantisation;
  lowering.cpu_operators = std::move(options.cpu_operators);
  lowering.full_precision = std::move(options.full_precision);
  return lowering;
}

Result<graph::CompiledModel> compile_onnx(const OnnxSource& source, const CompileFlags& flags,
                                          const CompileObserver& observer) {
  MILLRACE_ASSIGN_OR_RETURN(compiler::CompileOptions options, options_from(flags));
  Progress progress("compiling " + source.path);
  options.on_stage = [&](std::string_view stage, const graph::Graph& graph) {
    progress.update(stage);
    if (observer.on_stage) observer.on_stage(stage, graph);
  };
  options.on_assumed_frames = observer.on_assumed_frames;
  options.on_later_opset = observer.on_later_opset;
  return source.content ? compiler::compile_content(*source.content, source.path, options)
                        : compiler::compile(source.path, options);
}

Result<std::shared_ptr<const graph::CompiledModel>> open_model(const std::string& path,
                                                               const CompileFlags& flags) {
  if (path.ends_with(".onnx")) {
    MILLRACE_ASSIGN_OR_RETURN(graph::CompiledModel model, compile_onnx({path}, flags));
    return std::make_shared<const graph::CompiledModel>(std::move(model));
  }
  MILLRACE_ASSIGN_OR_RETURN(const auto archive, model::Archive::open(path));
  Result<graph::CompiledModel> decoded = graph::decode(archive);
  if (!decoded.ok()) return decoded.status().with_context(path);
  return std::make_shared<const graph::CompiledModel>(*std::move(decoded));
}

uint64_t weight_bytes(const graph::CompiledModel& model) {
  uint64_t bytes = 0;
  for (const graph::Value& value : model.graph.values)
    if (value.constant) bytes += value.bytes();
  return bytes;
}

Result<std::shared_ptr<const graph::CompiledModel>> open_static_model(
    const std::string& path, const CompileFlags& flags, const std::vector<std::string>& shapes) {
  MILLRACE_ASSIGN_OR_RETURN(auto model, open_model(path, flags));
  MILLRACE_ASSIGN_OR_RETURN(const GivenShapes given, parse_shapes(*model, shapes));
  if (model->network == nullptr) return model;
  MILLRACE_ASSIGN_OR_RETURN(const auto inputs, settled_inputs(*model, given));
  graph::ShapeProfile profile{"--shape", {}};
  for (const graph::Boundary& input : inputs) profile.shapes.push_back(input.cpu.shape);
  Result<graph::CompiledModel> lowered =
      lowering::lower_profile(*model, device::cpu::capabilities(), profile);
  if (!lowered.ok()) return lowered.status().with_context(path);
  return std::make_shared<const graph::CompiledModel>(*std::move(lowered));
}

Result<LoadedModel> load_on(const std::string& device_name,
                            std::shared_ptr<const graph::CompiledModel> model,
                            uint64_t memory_limit, device::DeviceOptions options) {
  LoadedModel loaded;
  MILLRACE_ASSIGN_OR_RETURN(loaded.device, device::open_device_of_program(device_name, options));
  MILLRACE_ASSIGN_OR_RETURN(loaded.program,
                            runtime::load_within(memory_limit, *loaded.device, std::move(model)));
  return loaded;
}

Result<LoadedModel> load_model(const std::string& path, const CompileFlags& flags,
                               const std::string& device_name, uint64_t memory_limit,
                               device::DeviceOptions options) {
  MILLRACE_ASSIGN_OR_RETURN(auto model, open_model(path, flags));
  return load_on(device_name, std::move(model), memory_limit, options);
}

}  // namespace millrace::cli
