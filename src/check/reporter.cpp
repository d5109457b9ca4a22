#include "check/reporter.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <numeric>
#include <string_view>
#include <system_error>

#include "base/cancellation.h"
#include "base/float_environment.h"
#include "base/log.h"

namespace millrace::check {
namespace {

constexpr const char* kComponent = "check";

// The user has asked for the checker, so what it finds is shown even if there is no log.
void say(std::string_view line) {
  if (log_is_chosen())
    log(LogLevel::kError, kComponent, line);
  else
    log_to_stderr(LogLevel::kError, kComponent, line);
}

}  // namespace

Status Reporter::append_to(const std::string& path) {
  constexpr mode_t kMode = 0644;
  file_ =
      UniqueFd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, kMode));
  if (file_.get() < 0)
    return {StatusCode::kIoError,
            fmt::format("cannot open {}: {}", path, std::generic_category().message(errno))};
  write_line(fmt::format("{{\"checker\":\"started\",\"process\":{}}}\n", ::getpid()));
  return {};
}

void Reporter::report(const Finding& finding) noexcept {
  const CancellationOff whole;
  const DefaultFloatEnvironment floats;
  try {
    const std::lock_guard lock(mutex_);
    const auto kind = static_cast<size_t>(finding.hazard);
    ++found_[kind];
    if (written_[kind] == kMostOfAKind || !seen_.insert(fingerprint_of(finding)).second) return;
    ++written_[kind];
    write(finding);
  } catch (const std::exception&) {
    // Memory is exhausted; the program goes on.
  }
}

void Reporter::write(const Finding& finding) {
  for (const std::string& line : text_of(finding)) say(line);
  if (file_.get() >= 0) write_line(json_of(finding));
}

// Each line is written at once, so that those of several processes do not mix.
void Reporter::write_line(const std::string& line) {
  if (::write(file_.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    say("a finding could not be written to the file of MILLRACE_CHECK");
}

std::string Reporter::kinds() const {
  std::string kinds;
  for (size_t kind = 0; kind < kHazards; ++kind) {
    if (found_[kind] == 0) continue;
    kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", found_[kind],
                         name_of(static_cast<Hazard>(kind)));
  }
  return kinds;
}

void Reporter::summarise() noexcept {
  try {
    const std::lock_guard lock(mutex_);
    const auto sum = [](const auto& counts) {
      return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
    };
    const uint64_t found = sum(found_);
    if (found == 0) return;
    const uint64_t described = sum(written_);
    say(fmt::format("{} finding{}: {}{}", found, found == 1 ? "" : "s", kinds(),
                    described == found ? "" : fmt::format("; {} described above", described)));
  } catch (const std::exception&) {
    // Memory is exhausted; the program ends anyway.
  }
}

}  // namespace millrace::check
