// PassDump writes the graph after each pass of the compiler to a file per pass. One thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/status.h"
#include "graph/graph.h"

namespace millrace::cli {

class PassDump {
 public:
  // Makes the folder if it is missing. Existing files of the same names are replaced later.
  // kIoError or kInvalidArgument, with the reason, if nothing can be written there.
  static Result<PassDump> into(std::string directory);

  // Writes the graph after a stage (CompileOptions::on_stage) to NN-STAGE.txt, counted from 00. If
  // the stage changed nothing, the file says so instead. After the first failure, which status()
  // returns, nothing more is written.
  void write(std::string_view stage, const graph::Graph& graph);
  const Status& status() const noexcept { return status_; }

 private:
  explicit PassDump(std::string directory) : directory_(std::move(directory)) {}

  std::string directory_;
  std::string before_;  // the graph after the previous stage, as text
  size_t written_ = 0;
  Status status_;
};

}  // namespace millrace::cli
