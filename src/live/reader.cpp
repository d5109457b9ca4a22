#include "live/reader.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "live/process_page.h"
#include "memory/published_file.h"

namespace millrace::live {
namespace {

using std::chrono::milliseconds;

constexpr int kMostTries = 100;

struct Question {
  pid_t pid = 0;
  std::shared_ptr<ProcessPage> page;
  uint32_t number = 0;
};

std::optional<Question> ask(pid_t pid) {
  const auto page = std::reinterpret_pointer_cast<ProcessPage>(memory::map_published_file(
      pid, kPageName, sizeof(ProcessPage), memory::PublishedAccess::kReadAndWrite));
  if (page == nullptr || page->signature != kPageSignature ||
      page->pid.load(std::memory_order_acquire) != pid)
    return std::nullopt;
  Question question{pid, page, page->asked.fetch_add(1) + 1};
  wake_all(page->asked);
  return question;
}

// Other readers may have asked later, so a later answer will do.
bool is_answered(const Question& question, uint32_t answered) noexcept {
  return static_cast<int32_t>(answered - question.number) >= 0;
}

bool await_answer(const Question& question, int64_t until_ns) noexcept {
  for (;;) {
    const uint32_t answered = question.page->answered.load(std::memory_order_acquire);
    if (is_answered(question, answered)) return true;
    const int64_t left_ms = (until_ns - now_ns()) / 1'000'000;
    if (left_ms <= 0) return false;
    wait_while(question.page->answered, answered, static_cast<int>(std::min<int64_t>(left_ms, 10)));
  }
}

std::string program_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/comm", pid));
  std::string name;
  std::getline(file, name);
  return name;
}

uint64_t resident_bytes_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/statm", pid));
  uint64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::string name_in(const UnitView& view) {
  const auto end = std::ranges::find(view.name, '\0');
  return {view.name.begin(), end};
}

ShownUnit unit_in(const UnitView& view) {
  return {.made = view.made,
          .id = view.id,
          .name = name_in(view),
          .lanes = view.lanes,
          .depth = view.depth,
          .in_flight = view.in_flight,
          .degraded = view.degraded != 0,
          .closed = view.closed != 0,
          .submitted = view.submitted,
          .refused = view.refused,
          .succeeded = view.succeeded,
          .cancelled = view.cancelled,
          .dropped = view.dropped,
          .late = view.late,
          .failed = view.failed,
          .mean_run_ns = std::max<int64_t>(view.mean_run_ns, 0),
          .run_times = view.run_times};
}

Result<ShownProcess> answer_to(const Question& question, bool has_answered) {
  const auto view = std::make_unique<ProcessView>();
  int tries = 1;
  while (!read_view(*question.page, *view))
    if (++tries > kMostTries || ::usleep(100) != 0)
      return Status(StatusCode::kBusy, "the description of the process never was complete");
  ShownProcess process{.pid = question.pid,
                       .name = program_of(question.pid),
                       .time_ns = view->time_ns,
                       .has_answered = has_answered,
                       .buffer_bytes = view->buffer_bytes,
                       .resident_bytes = resident_bytes_of(question.pid),
                       .other_units = view->others,
                       .units = {}};
  const size_t count = std::min<size_t>(view->units, kMostUnits);
  for (size_t i = 0; i < count; ++i) process.units.push_back(unit_in(view->unit[i]));
  return process;
}

int64_t end_of(milliseconds patience) noexcept {
  return now_ns() + std::chrono::nanoseconds(patience).count();
}

}  // namespace

Result<ShownProcess> ask_process(pid_t pid, milliseconds patience) {
  const std::optional<Question> question = ask(pid);
  if (!question)
    return Status(StatusCode::kNotFound,
                  fmt::format("process {} shows no units: it has none, was started without "
                              "MILLRACE_TOP=1, or is another user's",
                              pid));
  return answer_to(*question, await_answer(*question, end_of(patience)));
}

std::vector<ShownProcess> ask_processes(milliseconds patience) {
  std::vector<Question> questions;
  std::vector<pid_t> pids = memory::existing_processes();
  std::ranges::sort(pids);
  for (const pid_t pid : pids)
    if (std::optional<Question> question = ask(pid)) questions.push_back(*std::move(question));
  const int64_t until_ns = end_of(patience);
  std::vector<ShownProcess> processes;
  for (const Question& question : questions) {
    Result<ShownProcess> process = answer_to(question, await_answer(question, until_ns));
    if (process.ok()) processes.push_back(*std::move(process));
  }
  return processes;
}

}  // namespace millrace::live
