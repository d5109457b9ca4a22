#include "cli/passes/pass_dump.h"

#include <fmt/format.h>

#include <filesystem>
#include <span>

#include "cli/passes/graph_text.h"
#include "io/file.h"
#include "model/files/output_file.h"

namespace millrace::cli {

Result<PassDump> PassDump::into(std::string directory) {
  MILLRACE_RETURN_IF_ERROR(
      model::create_directories(directory).with_context("cannot write the dump of the passes"));
  return PassDump(std::move(directory));
}

void PassDump::write(std::string_view stage, const graph::Graph& graph) {
  if (!status_.ok()) return;
  std::string text = graph_text(graph);
  const std::string content =
      text == before_ ? fmt::format("{} changed nothing\n", stage)
                      : fmt::format("{}: {} nodes\n{}", stage, graph.nodes.size(), text);
  before_ = std::move(text);
  const auto path =
      std::filesystem::path(directory_) / fmt::format("{:02}-{}.txt", written_++, stage);
  status_ = io::write_file(path.string(), std::as_bytes(std::span(content)));
}

}  // namespace millrace::cli
