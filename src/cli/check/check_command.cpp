// `millrace check`: runs a program with the hazard checker (MILLRACE_CHECK), and says how much was
// found. What it prints goes to standard error, since standard output is that of the program.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/files/output_target.h"
#include "base/unique_fd.h"
#include "cli/check/findings_summary.h"
#include "cli/child_program.h"
#include "cli/commands.h"
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

Result<FindingsSummary> read_findings(const std::string& path) {
  MILLRACE_ASSIGN_OR_RETURN(const auto bytes, io::read_file(path));
  return summary_of_findings({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
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
  MILLRACE_ASSIGN_OR_RETURN(const int exit_code, run_child_program(arguments.command));
  MILLRACE_ASSIGN_OR_RETURN(const FindingsSummary summary, read_findings(file.path()));
  fmt::print(stderr, "millrace: {}\n", summary_text(summary));
  return summary.findings != 0 && arguments.exit_code != 0 ? static_cast<int>(arguments.exit_code)
                                                           : exit_code;
}

}  // namespace millrace::cli
