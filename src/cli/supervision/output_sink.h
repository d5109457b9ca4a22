// OutputSink: the destination of a command's output files, in the same process or, through the
// channel of a supervised child, in the parent.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace millrace::cli {

// Takes the files that a command makes. A command whose file names follow from the model first
// fixes them with settle(), before anything computes: an attacker who takes over the process while
// the model runs can add no further file. One thread.
class OutputSink {
 public:
  using Settle = std::function<Status(const std::vector<std::string>& names)>;
  using Give = std::function<Status(const std::string& name, std::span<const std::byte> bytes)>;

  OutputSink(Settle settle, Give give) : settle_(std::move(settle)), give_(std::move(give)) {}
  // For commands whose file names do not follow from the model: settle() must not be called.
  template <class Function>
  OutputSink(Function give)
      : OutputSink(
            [](const std::vector<std::string>&) {
              return corrupt_data("the child process announces outputs, but may have none");
            },
            Give(std::move(give))) {}

  // Fixes the names of all files, without folders. To be called once, before anything computes.
  Status settle(const std::vector<std::string>& names) const { return settle_(names); }
  // Takes a file, by its name and its bytes.
  Status operator()(const std::string& name, std::span<const std::byte> bytes) const {
    return give_(name, bytes);
  }

 private:
  Settle settle_;
  Give give_;
};

// Returns whether an output file may have this name: printable, ending in ".bin" or ".npy", without
// a folder. The names of single files end in kNamedSuffix instead.
bool is_output_name(const std::string& name);

// The end of the names of single files, for which the command line has paths.
inline constexpr std::string_view kNamedSuffix = ".named";

// The paths of single files by their names.
using NamedFiles = std::map<std::string, std::string>;

// Returns a sink that writes each settled file once, to its path in `named` or into `directory`,
// which it makes if it is missing, and prints a line for each if `announces` is set. kCorruptData
// for a file that was not settled, or that has no path.
OutputSink files_in(const std::string& directory, const NamedFiles& named = {},
                    bool announces = true);

}  // namespace millrace::cli
