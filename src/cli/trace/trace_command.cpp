// `millrace trace`: runs a program with MILLRACE_TRACE set, and says what is in the trace. What it
// prints goes to standard error, since standard output is that of the program.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/files/known_file.h"
#include "base/files/output_target.h"
#include "base/printable.h"
#include "base/unique_fd.h"
#include "cli/child_program.h"
#include "cli/commands.h"
#include "cli/trace/merged_trace.h"
#include "cli/trace/trace_summary.h"
#include "cli/trace/trace_text.h"
#include "io/file.h"
#include "model/files/temporary_output.h"
#include "timeline/page.h"

namespace millrace::cli {
namespace {

FileIdentity file_at(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return {};
  return {.device = info.st_dev, .inode = info.st_ino, .known = true};
}

void print_note(std::string_view note) {
  fmt::print(stderr, "millrace: {}\n", printable(note));
}

std::string note_of(const std::string& path) {
  const Result<TraceText> text = TraceText::read(path);
  if (!text.ok()) return text.status().message();
  const Result<TraceSummary> summary = summary_of_trace(text->json());
  return fmt::format("{}: {}", path,
                     summary.ok() ? summary_text(*summary) : summary.status().message());
}

constexpr const char* kNoTrace =
    "the program has left no trace: it has opened no device, or was killed";

Status write_merged(const std::vector<std::string>& paths, const std::string& output) {
  MILLRACE_ASSIGN_OR_RETURN(std::string text, merged_trace(paths));
  if (output.ends_with(kTracePage)) text = timeline::page_of(text);
  MILLRACE_RETURN_IF_ERROR(io::write_file(output, std::as_bytes(std::span(text))));
  print_note(note_of(output));
  return {};
}

// Returns the files of a folder whose names are those of traces.
std::vector<std::string> traces_in(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code ignored;  // the folder is our own
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    if (entry.path().extension() == kTraceJson) paths.push_back(entry.path());
  std::ranges::sort(paths);
  return paths;
}

// Every process writes a file of its own, into a folder that exists meanwhile.
Result<int> run_processes(const TraceArguments& arguments) {
  Result<model::TemporaryDirectory> folder =
      model::TemporaryDirectory::create(std::filesystem::absolute(arguments.output + ".processes"));
  if (!folder.ok()) return folder.status().with_context(arguments.output);
  ::setenv("MILLRACE_TRACE", (folder->name() + "/%p.json").c_str(), 1);
  MILLRACE_ASSIGN_OR_RETURN(const int exit_code, run_child_program(arguments.command));
  const std::vector<std::string> traces = traces_in(folder->name());
  if (traces.empty())
    print_note(kNoTrace);
  else
    MILLRACE_RETURN_IF_ERROR(write_merged(traces, arguments.output));
  return exit_code;
}

Result<int> run_one(const TraceArguments& arguments) {
  const std::string path = std::filesystem::absolute(arguments.output);
  // Open until the end, so that no new file gets the number of this one.
  const UniqueFd kept(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const FileIdentity before = file_at(path);
  ::setenv("MILLRACE_TRACE", path.c_str(), 1);
  MILLRACE_ASSIGN_OR_RETURN(const int exit_code, run_child_program(arguments.command));
  // A trace replaces the file that was there.
  const FileIdentity after = file_at(path);
  print_note(!after.known || after == before ? kNoTrace : note_of(arguments.output));
  return exit_code;
}

}  // namespace

Status check_trace(const TraceArguments& arguments) {
  if (!arguments.output.ends_with(kTraceJson) && !arguments.output.ends_with(kTracePage))
    return invalid_argument(fmt::format("--output {}: the name must end with {} or {}",
                                        arguments.output, kTraceJson, kTracePage));
  if (arguments.command.empty())
    return invalid_argument(arguments.merge ? "--merge needs the files of traces"
                                            : "a program is required, or --merge with traces");
  if (arguments.merge && arguments.processes)
    return invalid_argument("--merge runs no program, so --processes has no meaning");
  return {};
}

Result<int> run_trace(const TraceArguments& arguments) {
  MILLRACE_RETURN_IF_ERROR(check_output(arguments.output));
  if (std::filesystem::absolute(arguments.output).string().find("%p") != std::string::npos)
    return invalid_argument(fmt::format(
        "--output {}: MILLRACE_TRACE puts the id of a process in the place of %p; --processes "
        "writes the traces of all processes into one file",
        arguments.output));
  if (arguments.merge) {
    MILLRACE_RETURN_IF_ERROR(write_merged(arguments.command, arguments.output));
    return 0;
  }
  return arguments.processes ? run_processes(arguments) : run_one(arguments);
}

}  // namespace millrace::cli
