// `millrace shard`: divides a transformer for tensor parallelism. Writes NAME.rankR-of-N.onnx for
// every rank to the output folder, which it makes if it is missing, and prints what is divided.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/files/output_target.h"
#include "cli/commands.h"
#include "cli/inputs/open_tensors.h"
#include "cli/model_source.h"
#include "cli/print_escaped.h"
#include "compiler/export/onnx_writer.h"
#include "compiler/shard/rank_graph.h"
#include "compiler/shard/separate_products.h"
#include "compiler/shard/split_plan.h"
#include "model/files/output_file.h"

namespace millrace::cli {
namespace {

namespace fs = std::filesystem;

Status refuse_open(const graph::CompiledModel& model) {
  if (std::ranges::any_of(model.inputs, &graph::Boundary::open))
    return shapes_missing(model.inputs, "--input-shape")
        .with_context("only a model of static shapes can be divided");
  return unsupported(
      "shapes inside the model depend on elements, and only a model of static shapes can be "
      "divided");
}

Result<graph::Graph> read_graph(const ShardArguments& arguments) {
  CompileFlags flags;
  flags.input_shapes = arguments.input_shapes;
  // Attention fused to one operator could not be divided by heads, unless it reads buffers.
  flags.attention_in_parts = true;
  MILLRACE_ASSIGN_OR_RETURN(graph::CompiledModel model, compile_onnx({arguments.onnx}, flags));
  if (model.network != nullptr) return refuse_open(model);
  return std::move(model.graph);
}

double megabytes(const graph::Graph& graph) {
  size_t bytes = 0;
  for (const graph::Value& value : graph.values)
    if (value.constant) bytes += value.bytes();
  return static_cast<double>(bytes) * 1e-6;
}

void print_plan(const compiler::SplitPlan& plan, const graph::Graph& graph, uint32_t ranks) {
  print_escaped("{} products divided among {} ranks; the model has {:.2f} MB of weights\n",
                plan.divided.size(), ranks, megabytes(graph));
  for (const std::string& line : plan.whole) print_escaped("whole on every rank: {}\n", line);
}

}  // namespace

Status check_shard(const ShardArguments& arguments) {
  CompileFlags flags;
  flags.input_shapes = arguments.input_shapes;
  return check_compile_flags(flags);
}

Status run_shard(const ShardArguments& arguments) {
  MILLRACE_RETURN_IF_ERROR(check_output_folder(arguments.output_dir));
  MILLRACE_ASSIGN_OR_RETURN(graph::Graph graph, read_graph(arguments));
  MILLRACE_RETURN_IF_ERROR(compiler::separate_products(graph));
  MILLRACE_ASSIGN_OR_RETURN(const compiler::SplitPlan plan,
                            compiler::plan_split(graph, arguments.ranks));
  print_plan(plan, graph, arguments.ranks);
  MILLRACE_RETURN_IF_ERROR(model::create_directories(arguments.output_dir));
  const std::string name = fs::path(arguments.onnx).stem().string();
  for (uint32_t rank = 0; rank < arguments.ranks; ++rank) {
    MILLRACE_ASSIGN_OR_RETURN(const graph::Graph part,
                              compiler::make_rank_graph(graph, plan, rank, arguments.ranks));
    const std::string path = (fs::path(arguments.output_dir) /
                              fmt::format("{}.rank{}-of-{}.onnx", name, rank, arguments.ranks))
                                 .string();
    MILLRACE_RETURN_IF_ERROR(compiler::write_onnx(part, path));
    print_escaped("{}: {:.2f} MB of weights\n", path, megabytes(part));
  }
  return {};
}

}  // namespace millrace::cli
