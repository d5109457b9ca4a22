// `millrace serve` as an operator starts and ends it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "cli/serve/ending_signals.h"
#include "tests/serve/serve_fixture.h"

namespace millrace::test {
namespace {

using ::testing::HasSubstr;

// The program, with what it prints until its first line is complete.
class ServeProgram {
 public:
  explicit ServeProgram(const std::string& model) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const UniqueFd write_end(ends[1]);
    out_ = UniqueFd(ends[0]);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, write_end.get(), STDOUT_FILENO);
    std::vector<std::string> words = {MILLRACE_PROGRAM, "serve",       model, "--device",
                                      "null",           "--http-port", "0"};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    EXPECT_EQ(::posix_spawn(&pid_, MILLRACE_PROGRAM, &actions, nullptr, arguments.data(), environ),
              0);
    posix_spawn_file_actions_destroy(&actions);
  }
  ~ServeProgram() {
    if (pid_ > 0) end(SIGKILL);
  }

  std::string first_line() {
    std::string line;
    char letter = 0;
    while (::read(out_.get(), &letter, 1) == 1 && letter != '\n') line += letter;
    return line;
  }
  void signal(int number) const { ::kill(pid_, number); }
  int wait() {
    int status = -1;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  int end(int number) {
    signal(number);
    return wait();
  }

 private:
  UniqueFd out_;
  pid_t pid_ = -1;
};

TEST(ServeProgram, SaysWhereItIsAndEndsAfterWhatItAccepted) {
  const TemporaryDirectory directory;
  const std::string model = directory.file("tiny.rai");
  ASSERT_TRUE(write_tiny_model(model).ok());
  ::setenv("MILLRACE_FAULTS", "slow=300ms", 1);
  ServeProgram program(model);
  ::unsetenv("MILLRACE_FAULTS");
  const std::string line = program.first_line();
  ASSERT_THAT(line, HasSubstr("ready: tiny on http://127.0.0.1:"));
  HttpClient client(static_cast<uint16_t>(std::stoul(line.substr(line.rfind(':') + 1))));
  client.send(post_text(kInferPath,
                        R"({"inputs":[{"name":"data","shape":[1,3,4,4],)"
                        R"("datatype":"FP32","parameters":{"binary_data_size":192}}]})" +
                            std::string(192, '\0'),
                        "Inference-Header-Content-Length: 102\r\n"));
  HttpClient other(static_cast<uint16_t>(std::stoul(line.substr(line.rfind(':') + 1))));
  while (
      other.get("/metrics").body.find(R"(millrace_jobs_in_flight{model="tiny",version="1"} 1)") ==
      std::string::npos) {
  }
  program.signal(SIGTERM);
  EXPECT_EQ(client.receive().status, 200);
  EXPECT_EQ(program.wait(), 0);
}

// A signal that comes at once, and one during the drain: both programs would wait for ever.
TEST(EndingSignals, EndTheProgramAtOnceUnlessItServes) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const auto signals = cli::EndingSignals::start();
        ::kill(::getpid(), SIGTERM);
        ::pause();
      },
      ::testing::ExitedWithCode(128 + SIGTERM), "while models were loaded");
  EXPECT_EXIT(
      {
        auto signals = cli::EndingSignals::start();
        signals->serve();
        ::kill(::getpid(), SIGTERM);
        signals->wait();
        ::kill(::getpid(), SIGINT);
        ::pause();
      },
      ::testing::ExitedWithCode(128 + SIGINT), "before accepted requests were answered");
}

}  // namespace
}  // namespace millrace::test
