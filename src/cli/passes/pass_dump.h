// PassDump: writes what each pass of the compiler made of a graph, a file per pass. One thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/status.h"
#include "graph/graph.h"

namespace millrace::cli {

class PassDump {
 public:
  // Makes the folder where it is missing. Files of that name that are there already are replaced.
  // kIoError or kInvalidArgument, with the reason, where nothing can be written there.
  static Result<PassDump> into(std::string directory);

  // The graph after a stage, for CompileOptions::on_stage: writes NN-STAGE.txt, counted from 00.
  // If the stage changed nothing, the file says so. The first failure stays in status(), and
  // nothing is written from then on.
  void write(std::string_view stage, const graph::Graph& graph);
  const Status& status() const noexcept { return status_; }

 private:
  explicit PassDump(std::string directory) : directory_(std::move(directory)) {}

  std::string directory_;
  std::string before_;  // the text of the stage before
  size_t written_ = 0;
  Status status_;
};

}  // namespace millrace::cli
