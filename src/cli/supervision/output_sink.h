// The destination of a command's output files.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace millrace::cli {

// Takes the files that a command makes. The command first settles their names, as far as these
// follow from the model; an attacker who later takes over its process can add none. One thread.
class OutputSink {
 public:
  using Settle = std::function<Status(const std::vector<std::string>& names)>;
  using Give = std::function<Status(const std::string& name, std::span<const std::byte> bytes)>;

  OutputSink(Settle settle, Give give) : settle_(std::move(settle)), give_(std::move(give)) {}
  // Commands whose file names do not follow from a model use this: they settle no names.
  template <class Function>
  OutputSink(Function give)
      : OutputSink(
            [](const std::vector<std::string>&) {
              return corrupt_data("the child process names outputs of its own");
            },
            Give(std::move(give))) {}

  // Settles the names of all files, without a folder. To be called once, before anything computes.
  Status settle(const std::vector<std::string>& names) const { return settle_(names); }
  // Takes a file, by its name and its bytes.
  Status operator()(const std::string& name, std::span<const std::byte> bytes) const {
    return give_(name, bytes);
  }

 private:
  Settle settle_;
  Give give_;
};

// Returns whether an output file may have this name: printable, ending in ".bin", without a folder.
bool is_output_name(const std::string& name);

// Writes each settled file once into `directory`, which is made where there is none, and prints
// that it did. kCorruptData for a file that was not settled.
OutputSink files_in(const std::string& directory);

}  // namespace millrace::cli
