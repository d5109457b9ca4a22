// Exclusive columns among the processes of a user, as their runners see them. The other process is
// this program again, which then holds columns until it is told to let go, or killed.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "base/unique_fd.h"
#include "tests/vart/runner_fixture.h"

namespace millrace::vartml {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A process with an exclusive runner named "other".
class OtherProcess {
 public:
  OtherProcess(const std::string& model, const std::string& start_column) {
    int ready[2], release[2];
    EXPECT_EQ(::pipe(ready), 0);
    EXPECT_EQ(::pipe(release), 0);
    ready_ = UniqueFd(ready[0]);
    release_ = UniqueFd(release[1]);
    // Else the process would itself keep open what it waits for.
    ::fcntl(release_.get(), F_SETFD, FD_CLOEXEC);
    const std::string tell = std::to_string(ready[1]), wait = std::to_string(release[0]);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::execl("/proc/self/exe", "other", "--hold", model.c_str(), start_column.c_str(),
              tell.c_str(), wait.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(ready[1]);
    ::close(release[0]);
    char answer = 0;
    holds_ = ::read(ready_.get(), &answer, 1) == 1;
  }
  ~OtherProcess() { end(SIGKILL); }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;

  pid_t pid() const { return pid_; }
  bool holds() const { return holds_; }
  void let_go() {
    release_ = UniqueFd();
    wait();
  }
  void end(int signal) {
    if (pid_ > 0) ::kill(pid_, signal);
    wait();
  }

 private:
  void wait() {
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

  pid_t pid_ = 0;
  bool holds_ = false;
  UniqueFd ready_, release_;
};

class ColumnsOfProcesses : public RunnerTest {
 protected:
  // Why there is no such runner; "accepted" where there is.
  std::string refusal(const Options& options) {
    try {
      make_runner(options);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "accepted";
  }
};

TEST_F(ColumnsOfProcesses, ExclusiveOnesAreRefusedToRunnersOfOtherProcesses) {
  OtherProcess other(model(), "4");
  ASSERT_TRUE(other.holds());
  const auto names_it =
      HasSubstr("\"other\" (model \"tiny\") of process " + std::to_string(other.pid()));
  EXPECT_THAT(refusal({{"start_column", 4u}}), AllOf(names_it, HasSubstr("columns 4 to 7")));
  EXPECT_THAT(refusal({{"start_column", 6u}, {"aie_columns_sharing", false}}), names_it);
  EXPECT_EQ(refusal({{"start_column", 8u}, {"aie_columns_sharing", false}}), "accepted");
  EXPECT_EQ(refusal({}), "accepted") << "placed freely, it is on other columns";
  other.let_go();
  EXPECT_EQ(refusal({{"start_column", 4u}}), "accepted");
}

TEST_F(ColumnsOfProcesses, TheirOwnAreRefusedToTheOtherProcess) {
  const std::shared_ptr<Runner> mine = make_runner({{"start_column", 4u}});
  EXPECT_FALSE(OtherProcess(model(), "4").holds()) << "which wants them for itself";
  EXPECT_TRUE(OtherProcess(model(), "8").holds());
}

TEST_F(ColumnsOfProcesses, OneThatWasKilledHoldsNothing) {
  OtherProcess other(model(), "0");
  ASSERT_TRUE(other.holds());
  EXPECT_NE(refusal({{"start_column", 0u}}), "accepted");
  other.end(SIGKILL);
  EXPECT_EQ(refusal({{"start_column", 0u}}), "accepted");
}

TEST_F(ColumnsOfProcesses, BothComputeOnColumnsOfTheirOwn) {
  const OtherProcess other(model(), "4");
  ASSERT_TRUE(other.holds());
  const auto runner = make_runner({{"start_column", 8u}, {"aie_columns_sharing", false}});
  Tensors out = outputs(*runner);
  EXPECT_EQ(runner->execute(inputs(*runner), out), StatusCode::SUCCESS);
}

}  // namespace

// The work of the other process.
int hold_columns(const char* model, const char* start_column, int tell, int wait) {
  const Options options = {{"start_column", static_cast<unsigned>(std::stoi(start_column))},
                           {"aie_columns_sharing", false},
                           {"name", std::string("other")}};
  try {
    const auto runner = RunnerFactory::create_runner(RunnerType::VAIML, model, options);
    const char answer = 'y';
    char ignored = 0;
    return ::write(tell, &answer, 1) == 1 && ::read(wait, &ignored, 1) == 0 ? 0 : 1;
  } catch (const std::runtime_error&) {
    return 1;
  }
}

}  // namespace millrace::vartml

int main(int argc, char** argv) {
  if (argc == 6 && std::strcmp(argv[1], "--hold") == 0)
    return millrace::vartml::hold_columns(argv[2], argv[3], std::stoi(argv[4]), std::stoi(argv[5]));
  ::testing::InitGoogleTest(&argc, argv);
  // Both processes find each other in a table that no other program has.
  const millrace::test::TemporaryDirectory directory;
  ::setenv("MILLRACE_COLUMN_TABLE", directory.file("columns").c_str(), 1);
  return RUN_ALL_TESTS();
}
