#include "compiler/compiler.h"

#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <new>

#include "compiler/assemble.h"
#include "compiler/onnx/import.h"
#include "compiler/passes/pass_table.h"
#include "graph/capability.h"

namespace millrace::compiler {
namespace {

void report_stage(const CompileOptions& options, std::string_view stage,
                  const graph::Graph& graph) {
  if (options.on_stage) options.on_stage(stage, graph);
}

Result<graph::CompiledModel> compile_file(const std::string& path, const CompileOptions& options) {
  MILLRACE_ASSIGN_OR_RETURN(graph::Graph graph, import_onnx_file(path, options.input_shapes));
  report_stage(options, "import", graph);
  for (const Pass& pass : pass_table()) {
    const Status status = pass.run(graph, {options.precision, options.cpu_operators});
    if (!status.ok()) return status.with_context(fmt::format("{}: {}", path, pass.name));
    report_stage(options, pass.name, graph);
  }
  if (Status status = graph::validate(graph); !status.ok()) {
    return internal_error(fmt::format("{}: after all passes: {}", path, status.message()));
  }
  // The importer has asked this of every node; it must hold for what the passes made of them, too.
  if (Status status = graph::check_capabilities(graph); !status.ok()) {
    return status.with_context(path);
  }
  return assemble(std::move(graph), options, std::filesystem::path(path).stem().string());
}

}  // namespace

Result<graph::CompiledModel> compile(const std::string& onnx_path, const CompileOptions& options) {
  // The standard library and protobuf report exhausted memory, and sizes beyond it, by exception.
  try {
    return compile_file(onnx_path, options);
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kOutOfMemory,
                  fmt::format("{}: not enough memory to compile it", onnx_path));
  } catch (const std::exception& error) {
    return internal_error(fmt::format("{}: {}", onnx_path, error.what()));
  }
}

}  // namespace millrace::compiler
