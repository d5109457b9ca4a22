// Where a command's output files go.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace millrace::cli {

// Takes the files that a command makes. The work says first which there will be, as far as that
// follows from the model; who takes over its process later can add none. One thread.
class OutputSink {
 public:
  using Settle = std::function<Status(const std::vector<std::string>& names)>;
  using Give = std::function<Status(const std::string& name, std::span<const std::byte> bytes)>;

  OutputSink(Settle settle, Give give) : settle_(std::move(settle)), give_(std::move(give)) {}
  // For commands whose names do not follow from a model: they settle none.
  template <class Function>
  OutputSink(Function give)
      : OutputSink(
            [](const std::vector<std::string>&) {
              return corrupt_data("the child process names outputs of its own");
            },
            Give(std::move(give))) {}

  // The names of all files, without a folder. To be called once, before anything computes.
  Status settle(const std::vector<std::string>& names) const { return settle_(names); }
  // A file: its name and its bytes.
  Status operator()(const std::string& name, std::span<const std::byte> bytes) const {
    return give_(name, bytes);
  }

 private:
  Settle settle_;
  Give give_;
};

// Whether an output file may have this name: it is printable, ends in ".bin" and has no folder.
bool is_output_name(const std::string& name);

// Writes each settled file once into `directory`, which is made where there is none, and prints
// that it did. kCorruptData for a file that was not settled.
OutputSink files_in(const std::string& directory);

}  // namespace millrace::cli
