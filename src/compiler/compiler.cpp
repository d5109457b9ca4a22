#include "compiler/compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <new>
#include <utility>

#include "base/float_environment.h"
#include "compiler/dynamic_model.h"
#include "compiler/network_constants.h"
#include "compiler/onnx/network_reader.h"
#include "graph/archive/codec.h"
#include "lowering/finish.h"
#include "lowering/loops/carried_sequences.h"
#include "lowering/operators/operator_table.h"
#include "lowering/stage.h"

namespace millrace::compiler {
namespace {

lowering::LoweringOptions lowering_options(const CompileOptions& options,
                                           const lowering::FoldingBudget& budget) {
  return {options.capabilities,
          options.batch_size,
          options.precision,
          options.hw_layouts,
          options.hw_quantisation,
          options.cpu_operators,
          options.full_precision,
          /*is_stage=*/false,
          options.as_written,
          options.attention_in_parts,
          options.on_stage,
          budget};
}

// Loaders refuse models with more inputs or outputs than this. It is checked here, before time is
// spent on lowering.
Status check_boundaries(const network::Network& network) {
  for (const auto& [side, count] :
       {std::pair("inputs", network.inputs.size()), std::pair("outputs", network.outputs.size())}) {
    if (count > graph::kMaxBoundaries)
      return unsupported(
          fmt::format("the model has {} {}; at most {} are supported: join them, for "
                      "instance by Concat or Split",
                      count, side, graph::kMaxBoundaries));
  }
  return {};
}

Result<graph::CompiledModel> compile_network(network::Network network,
                                             const CompileOptions& options, std::string name) {
  MILLRACE_RETURN_IF_ERROR(check_boundaries(network));
  lowering::mark_carried_sequences(network);
  const auto assumed = assumed_frames(options.input_shapes, network.inputs);
  MILLRACE_RETURN_IF_ERROR(settle_inputs(options.input_shapes, network));
  if (options.on_assumed_frames && !assumed.empty()) options.on_assumed_frames(assumed);
  const auto opset = network.opsets.find("");
  if (options.on_later_opset && opset != network.opsets.end() &&
      opset->second > lowering::kMaxOpset)
    options.on_later_opset(opset->second);
  if (!std::ranges::all_of(network.inputs, is_static)) {
    fold_network_constants(network, options.capabilities);
    drop_unneeded(network);
    MILLRACE_RETURN_IF_ERROR(lowering::check_operators(network));
    return make_dynamic(std::move(network), lowering::Stage(), options, std::move(name));
  }
  MILLRACE_ASSIGN_OR_RETURN(
      lowering::Stage stage,
      lowering::lower_whole(network, options.capabilities, true, options.as_written));
  if (!stage.rest.empty()) {
    fold_network_constants(network, options.capabilities);
    drop_unneeded(network);
    return make_dynamic(std::move(network), stage, options, std::move(name));
  }
  network = {};  // releases its references to weights, which passes replace
  return lowering::finish(std::move(stage.graph), lowering_options(options, stage.budget),
                          std::move(name));
}

// Compiles the network that `read` returns. `source` is its path, or what stands for one.
template <class Read>
Result<graph::CompiledModel> compile_read(const Read& read, const std::string& source,
                                          const CompileOptions& options) {
  MILLRACE_ASSIGN_OR_RETURN(network::Network network, read());
  Result<graph::CompiledModel> model =
      compile_network(std::move(network), options, std::filesystem::path(source).stem().string());
  if (!model.ok()) return model.status().with_context(source);
  const Status loadable = graph::check_model(*model);
  if (loadable.ok()) return model;
  return unsupported(fmt::format("{}: an archive cannot hold it: {}", source, loadable.message()));
}

// Compiles like compile_read(). The standard library and protobuf throw when memory is exhausted,
// or when a size exceeds any memory.
template <class Read>
Result<graph::CompiledModel> compile_guarded(const Read& read, const std::string& source,
                                             const CompileOptions& options) {
  const DefaultFloatEnvironment floats;
  try {
    return compile_read(read, source, options);
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kOutOfMemory,
                  fmt::format("{}: not enough memory to compile it", source));
  } catch (const std::exception& error) {
    return internal_error(fmt::format("{}: {}", source, error.what()));
  }
}

}  // namespace

Result<graph::CompiledModel> compile(const std::string& onnx_path, const CompileOptions& options) {
  return compile_guarded([&] { return read_network_file(onnx_path); }, onnx_path, options);
}

Result<graph::CompiledModel> compile_content(std::string_view content, const std::string& name,
                                             const CompileOptions& options) {
  const auto read = [&]() -> Result<network::Network> {
    Result<network::Network> network = read_network(content, {});
    if (!network.ok()) return network.status().with_context(name);
    return network;
  };
  return compile_guarded(read, name, options);
}

}  // namespace millrace::compiler
