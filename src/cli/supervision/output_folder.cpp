#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <set>

#include "cli/print_escaped.h"
#include "cli/supervision/interruption.h"
#include "cli/supervision/output_sink.h"
#include "io/file.h"
#include "model/files/output_file.h"

namespace millrace::cli {
namespace {

// A folder, files with paths of their own, and the names of those that are still to be written.
class OutputFolder {
 public:
  OutputFolder(std::string directory, NamedFiles named, bool announces)
      : directory_(std::move(directory)), named_(std::move(named)), announces_(announces) {}

  Status settle(const std::vector<std::string>& names) {
    if (settled_) return corrupt_data("the child process announces its outputs twice");
    settled_ = true;
    for (const std::string& name : names)
      if (!may_settle(name) || !missing_.insert(name).second)
        return corrupt_data(
            fmt::format("\"{}\" is not a valid name of an output file, or occurs twice", name));
    return {};
  }

  Status write(const std::string& name, std::span<const std::byte> bytes) {
    if (missing_.erase(name) == 0)
      return corrupt_data(fmt::format(
          "unexpected output \"{}\" received from the child process: the model has no such output, "
          "or it was received before",
          name));
    MILLRACE_ASSIGN_OR_RETURN(const std::string path, path_of(name));
    CleanInterruption interruption;
    MILLRACE_RETURN_IF_ERROR(interruption.start());
    MILLRACE_RETURN_IF_ERROR(io::write_file(path, bytes));
    if (announces_) print_escaped("wrote {} ({} bytes)\n", path, bytes.size());
    return {};
  }

 private:
  // Names of single files are those that the command line has paths for.
  bool may_settle(const std::string& name) const {
    return is_output_name(name) && name.ends_with(kNamedSuffix) == named_.contains(name);
  }

  // Returns the path for a file, with its folder made if need be.
  Result<std::string> path_of(const std::string& name) const {
    if (const auto found = named_.find(name); found != named_.end()) return found->second;
    if (directory_.empty())
      return corrupt_data(fmt::format("output \"{}\" is not asked for", name));
    MILLRACE_RETURN_IF_ERROR(model::create_directories(directory_));
    return (std::filesystem::path(directory_) / name).string();
  }

  std::string directory_;
  NamedFiles named_;
  bool announces_;
  bool settled_ = false;
  std::set<std::string> missing_;
};

}  // namespace

OutputSink files_in(const std::string& directory, const NamedFiles& named, bool announces) {
  const auto folder = std::make_shared<OutputFolder>(directory, named, announces);
  return {[folder](const std::vector<std::string>& names) { return folder->settle(names); },
          [folder](const std::string& name, std::span<const std::byte> bytes) {
            return folder->write(name, bytes);
          }};
}

}  // namespace millrace::cli
