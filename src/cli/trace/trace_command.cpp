// `millrace trace`: runs a program with MILLRACE_TRACE set, and says what is in the trace. What it
// prints goes to standard error, since standard output is that of the program.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/files/known_file.h"
#include "base/files/output_target.h"
#include "base/printable.h"
#include "base/unique_fd.h"
#include "cli/child_program.h"
#include "cli/commands.h"
#include "cli/trace/trace_summary.h"
#include "io/file.h"
#include "timeline/page.h"

namespace millrace::cli {
namespace {

constexpr std::string_view kJson = ".json", kPage = ".html";

FileIdentity file_at(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return {};
  return {.device = info.st_dev, .inode = info.st_ino, .known = true};
}

// Says what the program has left. `before` is the file that was there at its start, which a trace
// replaces.
std::string report(const std::string& path, const FileIdentity& before) {
  const FileIdentity after = file_at(path);
  if (!after.known || after == before)
    return "the program has left no trace: it has opened no device, or was killed";
  const auto bytes = io::read_file(path);
  if (!bytes.ok()) return bytes.status().message();
  std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  if (path.ends_with(kPage)) text = timeline::trace_in(text);
  const Result<TraceSummary> summary = summary_of_trace(text);
  return fmt::format("{}: {}", path,
                     summary.ok() ? summary_text(*summary) : summary.status().message());
}

}  // namespace

Status check_trace(const TraceArguments& arguments) {
  if (arguments.output.ends_with(kJson) || arguments.output.ends_with(kPage)) return {};
  return invalid_argument(
      fmt::format("--output {}: the name must end with {} or {}", arguments.output, kJson, kPage));
}

Result<int> run_trace(const TraceArguments& arguments) {
  MILLRACE_RETURN_IF_ERROR(check_output(arguments.output));
  const std::string path = std::filesystem::absolute(arguments.output);
  if (path.find("%p") != std::string::npos)
    return invalid_argument(fmt::format(
        "--output {}: MILLRACE_TRACE puts the id of a process in the place of %p", path));
  // Open until the end, so that no new file gets the number of this one.
  const UniqueFd kept(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const FileIdentity before = file_at(path);
  ::setenv("MILLRACE_TRACE", path.c_str(), 1);
  MILLRACE_ASSIGN_OR_RETURN(const int exit_code, run_child_program(arguments.command));
  fmt::print(stderr, "millrace: {}\n", printable(report(arguments.output, before)));
  return exit_code;
}

}  // namespace millrace::cli
