// `millrace top`: what it prints of programs with known jobs, and how it treats a terminal.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "tests/live/shown_program.h"
#include "tests/support/subprocess.h"

namespace millrace::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

ProgramResult top(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {MILLRACE_PROGRAM, "top", "--interval", "100ms"});
  return run_program(arguments, "/");
}

const ShownProgram::Variables kShown = {{"MILLRACE_TOP", "1"}, {"MILLRACE_FAULTS", "fail=3"}};

void run_ten_jobs(NullSession& session) {
  session.submit_and_wait(10);
}

TEST(Top, PrintsTheJobsOfAProgramAsJson) {
  const ShownProgram program(kShown, run_ten_jobs);
  const ProgramResult result = top({"--once", "--json", "--pid", std::to_string(program.pid())});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json processes = json::parse(result.out)["processes"];
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_EQ(processes[0]["pid"], program.pid());
  EXPECT_EQ(processes[0]["answers"], true);
  uint64_t submitted = 0, succeeded = 0, failed = 0;
  for (const json& unit : processes[0]["units"]) {
    submitted += unit["submitted"].get<uint64_t>();
    succeeded += unit["succeeded"].get<uint64_t>();
    failed += unit["failed"].get<uint64_t>();
    EXPECT_EQ(unit["jobs_per_second"], 0.0) << "no job ends while it looks";
    EXPECT_EQ(unit["state"], "healthy");
    if (unit["submitted"] != 0) {
      EXPECT_GT(unit["p99_run_ns"], 0);
    }
  }
  EXPECT_EQ(submitted, 10u);
  EXPECT_EQ(succeeded, 9u);
  EXPECT_EQ(failed, 1u);
}

TEST(Top, PrintsATableOfAllProgramsWithoutATerminal) {
  const ShownProgram first(kShown, run_ten_jobs), second(kShown, run_ten_jobs);
  const ProgramResult result = top({});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("\n" + std::to_string(second.pid()) + " "));
  EXPECT_THAT(result.out, HasSubstr(std::to_string(first.pid()) + " "));
  EXPECT_THAT(result.out, HasSubstr("tiny/1"));
  EXPECT_THAT(result.out, Not(HasSubstr("\x1b")));
}

TEST(Top, CountsTheJobsOfASecond) {
  const ShownProgram program({{"MILLRACE_TOP", "1"}}, [](NullSession& session) {
    // The program goes on with its jobs while it is looked at.
    std::thread([&session] {
      for (;;) session.submit_and_wait(1);
    }).detach();
  });
  const ProgramResult result = top({"--once", "--json", "--pid", std::to_string(program.pid())});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json shown = json::parse(result.out);
  double rate = 0;
  for (const json& unit : shown["processes"][0]["units"])
    rate += unit["jobs_per_second"].get<double>();
  EXPECT_GT(rate, 0);
}

TEST(Top, SaysThatAProcessHasNoUnitsAndNoBuffers) {
  const ShownProgram program({{"MILLRACE_TOP", "1"}}, [](NullSession& session) {
    session.submit_and_wait(1);
    session.session.reset();
  });
  const ProgramResult result = top({"--once", "--pid", std::to_string(program.pid())});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("no units"), Not(HasSubstr("UNIT NAME"))));
}

TEST(Top, SaysWhyAProcessIsNotShown) {
  const ProgramResult result = top({"--once", "--pid", std::to_string(::getpid())});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("MILLRACE_TOP=1"));
}

TEST(Top, RefusesAnIntervalThatIsNone) {
  const ProgramResult result = run_program({MILLRACE_PROGRAM, "top", "--interval", "1ms"}, "/");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--interval"));
}

// The command on a terminal of its own.
class TopOnATerminal : public testing::Test {
 protected:
  void SetUp() override {
    winsize size{};
    size.ws_row = 100;
    size.ws_col = 40;
    int terminal = -1;
    ASSERT_EQ(::openpty(&terminal, &user_, nullptr, nullptr, &size), 0);
    terminal_ = terminal;
    ASSERT_EQ(::tcgetattr(user_, &before_), 0);
    child_ = ::fork();
    if (child_ != 0) return;
    ::setsid();
    ::ioctl(user_, TIOCSCTTY, 0);
    for (int fd = 0; fd < 3; ++fd) ::dup2(user_, fd);
    ::setenv("TERM", "xterm", 1);
    ::execl(MILLRACE_PROGRAM, MILLRACE_PROGRAM, "top", "--interval", "100ms", nullptr);
    ::_exit(127);
  }
  ~TopOnATerminal() override {
    if (child_ > 0) ::kill(child_, SIGKILL);
    ::close(user_);
    ::close(terminal_);
  }
  // Reads what is shown until it has this text.
  void await(const std::string& text) {
    while (shown_.find(text) == std::string::npos) ASSERT_TRUE(read_some()) << shown_;
  }
  void resize(unsigned short columns) {
    winsize size{};
    size.ws_row = 100;
    size.ws_col = columns;
    ASSERT_EQ(::ioctl(terminal_, TIOCSWINSZ, &size), 0);
  }
  void type(const char* key) { ASSERT_EQ(::write(terminal_, key, 1), 1); }
  // Returns the exit code, or 128 + the signal that ended it. Reads meanwhile, since a program that
  // writes to a full terminal does not end.
  int exit_code() {
    int status = 0;
    while (::waitpid(child_, &status, WNOHANG) == 0) static_cast<void>(read_some(10));
    child_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  bool read_some(int ms = 60'000) {
    pollfd shown{terminal_, POLLIN, 0};
    if (::poll(&shown, 1, ms) <= 0) return false;
    char buffer[4096];
    const ssize_t got = ::read(terminal_, buffer, sizeof(buffer));
    if (got <= 0) return false;
    shown_.append(buffer, static_cast<size_t>(got));
    return true;
  }
  void expect_restored() {
    await("\x1b[?1049l");
    termios after{};
    ASSERT_EQ(::tcgetattr(user_, &after), 0);
    EXPECT_EQ(after.c_lflag, before_.c_lflag);
  }

  int terminal_ = -1, user_ = -1;
  pid_t child_ = 0;
  termios before_{};
  std::string shown_;
};

TEST_F(TopOnATerminal, FillsTheScreenAndLeavesItAsItWas) {
  const ShownProgram program(kShown, run_ten_jobs);
  await("\x1b[?1049h");
  await("UNIT NAME");
  await("tiny/0");
  type("\x03");  // Ctrl-C
  EXPECT_EQ(exit_code(), 0);
  expect_restored();
}

TEST_F(TopOnATerminal, EndsByTheKeyQ) {
  await("\x1b[?1049h");
  type("q");
  EXPECT_EQ(exit_code(), 0);
  expect_restored();
}

TEST_F(TopOnATerminal, IsRestoredWhenASignalEndsTheProgram) {
  await("\x1b[?1049h");
  ::kill(child_, SIGTERM);
  EXPECT_EQ(exit_code(), 128 + SIGTERM);
  expect_restored();
}

TEST_F(TopOnATerminal, ShowsFailuresOnEightyColumnsAndAllColumnsOnAWideTerminal) {
  const ShownProgram program(kShown, run_ten_jobs);
  await("UNIT NAME");
  EXPECT_THAT(shown_, Not(HasSubstr("FAILED")));
  resize(80);
  await("FAILED");
  for (const char* left_out : {"LANES", "MEAN", "CANCELLED"})
    EXPECT_THAT(shown_, Not(HasSubstr(left_out)));
  EXPECT_THAT(shown_, HasSubstr("P99"));
  resize(200);
  await("CANCELLED");
  EXPECT_THAT(shown_, AllOf(HasSubstr("LANES"), HasSubstr("MEAN")));
  type("q");
  EXPECT_EQ(exit_code(), 0);
}

// Runs ten jobs in units whose names have 30 characters.
void run_jobs_of_a_long_name(NullSession& session) {
  graph::CompiledModel model = tiny_model();
  model.name = "a_model_with_a_very_long_nam";
  session.session.reset();
  session.program =
      session.device->load(std::make_shared<graph::CompiledModel>(std::move(model))).value();
  session.session = runtime::Session::create(session.device, session.program, {}).value();
  session.submit_and_wait(10);
}

TEST_F(TopOnATerminal, ShowsFailuresWhereANameIsTooLong) {
  const ShownProgram program(kShown, run_jobs_of_a_long_name);
  resize(80);
  await("FAILED");
  shown_.clear();
  await("\x1b[H");
  shown_.erase(0, shown_.find("\x1b[H"));
  await("\x1b[J");
  std::istringstream lines(shown_.substr(0, shown_.find("\x1b[J")));
  size_t end_of_failed = 0;
  int failed = 0;
  for (std::string line; std::getline(lines, line);) {
    line.resize(std::min(line.size(), line.find("\x1b[K")));
    if (const size_t head = line.find("FAILED"); head != std::string::npos)
      end_of_failed = head + std::string("FAILED").size();
    if (line.find("a_model_with_a_very~ ") == std::string::npos) continue;
    ASSERT_GE(line.size(), end_of_failed) << line;
    line.resize(end_of_failed);
    failed += std::stoi(line.substr(line.rfind(' ') + 1));
  }
  EXPECT_EQ(failed, 1) << shown_;
}

}  // namespace
}  // namespace millrace::test
