// `millrace top`: shows what the execution units of running programs do. On a terminal it fills the
// screen until the user ends it; elsewhere it prints once, or a line of JSON again and again.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/top/screen.h"
#include "cli/top/top_report.h"
#include "cli/top/top_rows.h"
#include "live/reader.h"

namespace millrace::cli {
namespace {

using std::chrono::milliseconds;

// A process that runs answers within a few microseconds, unless the machine is busy. Who looks
// again and again sees what has changed at the next look; who looks once waits for those that are
// slow.
constexpr milliseconds kPatience{200}, kPatienceForOne{2000};

using Processes = std::vector<live::ShownProcess>;

milliseconds interval_of(const TopArguments& arguments) {
  return std::chrono::ceil<milliseconds>(std::chrono::duration<double>(arguments.interval));
}

Result<Processes> ask(const TopArguments& arguments) {
  const milliseconds patience = arguments.once ? kPatienceForOne : kPatience;
  if (arguments.pid == 0) return live::ask_processes(patience);
  MILLRACE_ASSIGN_OR_RETURN(live::ShownProcess process,
                            live::ask_process(static_cast<pid_t>(arguments.pid), patience));
  return Processes{std::move(process)};
}

// Calls show(rows) after each interval until it returns false.
template <class Show>
Status watch(const TopArguments& arguments, Processes before, Show&& show) {
  for (;;) {
    Result<Processes> now = ask(arguments);
    // A process that was stopped while it wrote is shown as it was.
    if (!now.ok() && now.status().code() == StatusCode::kBusy) now = before;
    MILLRACE_RETURN_IF_ERROR(now.status());
    if (!show(rows_of(before, *now))) return {};
    before = *std::move(now);
  }
}

Status fill_screen(const TopArguments& arguments) {
  MILLRACE_ASSIGN_OR_RETURN(Processes first, ask(arguments));
  MILLRACE_ASSIGN_OR_RETURN(const std::unique_ptr<Screen> screen, Screen::take());
  const auto show = [&](const std::vector<ProcessRows>& rows) {
    return screen->show([&](size_t width) { return top_lines(rows, width); },
                        interval_of(arguments));
  };
  if (!show(rows_of({}, first))) return {};
  return watch(arguments, std::move(first), show);
}

bool print_rows(const std::vector<ProcessRows>& rows, bool json) {
  if (json) {
    fmt::print("{}\n", top_json(rows));
  } else {
    for (const std::string& line : top_lines(rows)) fmt::print("{}\n", line);
  }
  return std::fflush(stdout) == 0;
}

// Without a first look at the processes there are no rates.
Status print(const TopArguments& arguments) {
  MILLRACE_ASSIGN_OR_RETURN(Processes first, ask(arguments));
  std::this_thread::sleep_for(interval_of(arguments));
  const bool once = arguments.once || !arguments.json;
  return watch(arguments, std::move(first), [&](const std::vector<ProcessRows>& rows) {
    if (!print_rows(rows, arguments.json) || once) return false;
    std::this_thread::sleep_for(interval_of(arguments));
    return true;
  });
}

}  // namespace

Status check_top(const TopArguments& arguments) {
  constexpr double kLeast = 0.1, kMost = 24 * 3600;
  if (arguments.interval >= kLeast && arguments.interval <= kMost) return {};
  return invalid_argument("--interval: the time between two looks is 100ms to 24h");
}

Status run_top(const TopArguments& arguments) {
  const bool has_screen = !arguments.once && !arguments.json && Screen::is_possible();
  return has_screen ? fill_screen(arguments) : print(arguments);
}

}  // namespace millrace::cli
