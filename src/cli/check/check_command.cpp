// `millrace check`: runs a program with the hazard checker (MILLRACE_CHECK), and says how much was
// found. What it prints goes to standard error, since standard output is that of the program.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/files/output_target.h"
#include "base/unique_fd.h"
#include "cli/check/findings_summary.h"
#include "cli/check/source_lines.h"
#include "cli/child_program.h"
#include "cli/commands.h"
#include "cli/printable_message.h"
#include "io/file.h"

namespace millrace::cli {
namespace {

// The file to which the program appends its findings: that of the user, or a temporary one, which
// is removed.
class FindingsFile {
 public:
  ~FindingsFile() {
    if (is_temporary_) ::unlink(path_.c_str());
  }
  FindingsFile(const FindingsFile&) = delete;
  FindingsFile& operator=(const FindingsFile&) = delete;
  FindingsFile() = default;

  // Makes the file, or empties it. With an empty path it is a temporary one.
  Status make(const std::string& path) {
    if (path.empty()) return make_temporary();
    MILLRACE_RETURN_IF_ERROR(check_output(path));
    path_ = std::filesystem::absolute(path);
    constexpr mode_t kMode = 0644;
    const UniqueFd file(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode));
    return file ? Status() : io_error("open " + path, errno);
  }
  const std::string& path() const noexcept { return path_; }

 private:
  Status make_temporary() {
    path_ = std::filesystem::temp_directory_path() / "millrace-check-XXXXXX";
    const UniqueFd file(::mkostemp(path_.data(), O_CLOEXEC));
    is_temporary_ = static_cast<bool>(file);
    return file ? Status() : io_error("make a temporary file", errno);
  }

  std::string path_;
  bool is_temporary_ = false;
};

void say(std::string_view line) {
  fmt::print(stderr, "millrace: {}\n", printable_message(line));
}

// Shows each level of inlining on a line of its own.
void show_source(const std::string& place, std::string_view source) {
  std::string before = place;
  while (!source.empty()) {
    const size_t end = std::min(source.find(kInlinedAt), source.size());
    say(before + std::string(source.substr(0, end)));
    source.remove_prefix(std::min(end + kInlinedAt.size(), source.size()));
    before = std::string(place.size(), ' ') + "inlined at ";
  }
}

// Shows the lines of sources, and adds them to the file of the user. Other processes of the program
// that still run would write to the file that is replaced.
Status show_sources(const FindingsSummary& summary, std::string_view findings,
                    const std::string& path) {
  if (summary.calls.empty()) return {};
  const Result<SourceLines> sources = source_lines(summary.calls);
  if (!sources.ok()) say(sources.status().message());
  if (!sources.ok() || sources->empty()) return {};
  say("these calls are in the sources at:");
  for (const auto& [place, source] : *sources)
    show_source(fmt::format("  {}+{}: ", std::filesystem::path(place.path).filename().string(),
                            place.offset),
                source);
  if (path.empty() || summary.ended != summary.processes) return {};
  const std::string complete = with_sources(findings, *sources);
  return io::write_file(path, std::as_bytes(std::span(complete)));
}

}  // namespace

Status check_check(const CheckArguments& arguments) {
  if (arguments.json.find("%p") == std::string::npos) return {};
  return invalid_argument(fmt::format(
      "--json {}: MILLRACE_CHECK puts the id of a process in the place of %p", arguments.json));
}

Result<int> run_check(const CheckArguments& arguments) {
  FindingsFile file;
  MILLRACE_RETURN_IF_ERROR(file.make(arguments.json));
  ::setenv("MILLRACE_CHECK", file.path().c_str(), 1);
  if (arguments.strict_sync) ::setenv("MILLRACE_STRICT_SYNC", "1", 1);
  MILLRACE_ASSIGN_OR_RETURN(const int exit_code, run_child_program(arguments.command));
  MILLRACE_ASSIGN_OR_RETURN(const auto bytes, io::read_file(file.path()));
  const std::string_view findings(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const FindingsSummary summary = summary_of_findings(findings);
  const Status shown =
      show_sources(summary, findings, arguments.json.empty() ? std::string() : file.path());
  say(summary_text(summary));
  if (summary.not_looked_for.contains("missing_sync"))
    say("missing calls of sync_buffer() are only seen with --strict-sync: run it with that, too");
  MILLRACE_RETURN_IF_ERROR(shown);
  return summary.all().findings != 0 && arguments.exit_code != 0
             ? static_cast<int>(arguments.exit_code)
             : exit_code;
}

}  // namespace millrace::cli
