// Columns among processes: what one holds, others are refused, until it lets go or ends.
#include "runtime/columns/column_table.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "base/log.h"
#include "base/unique_fd.h"
#include "runtime/columns/column_claim.h"

namespace millrace::runtime {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A table of this test program's own, from before the library looks for one.
class TableOfThisProgram {
 public:
  TableOfThisProgram() {
    char path[] = "/tmp/millrace-columns-XXXXXX";
    UniqueFd(::mkstemp(path));
    path_ = path;
    ::setenv("MILLRACE_COLUMN_TABLE", path, 1);
  }
  ~TableOfThisProgram() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
} const table;

const ColumnMap kMap{16, {0}};

Result<ColumnClaimPtr> claim(std::optional<uint32_t> start_column, bool exclusive,
                             std::string holder = "another") {
  return claim_columns(kMap, {start_column, exclusive}, std::move(holder));
}

// A process that holds the columns of a placement until it is told to let go, or killed.
class Holder {
 public:
  Holder(const Placement& placement, const std::string& name) {
    int ready[2], release[2];
    EXPECT_EQ(::pipe2(ready, O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(release, O_CLOEXEC), 0);
    ready_ = UniqueFd(ready[0]);
    release_ = UniqueFd(release[1]);
    pid_ = ::fork();
    if (pid_ == 0) hold(placement, name, UniqueFd(ready[1]), UniqueFd(release[0]));
    ::close(ready[1]);
    ::close(release[0]);
    char answer = 0;
    EXPECT_EQ(::read(ready_.get(), &answer, 1), 1);
    holds_ = answer == 'y';
  }
  ~Holder() { end(SIGKILL); }

  pid_t pid() const { return pid_; }
  bool holds() const { return holds_; }
  // It lets go of its columns and then ends by itself.
  void let_go() {
    release_ = UniqueFd();
    wait();
  }
  void end(int signal) {
    if (pid_ > 0) ::kill(pid_, signal);
    wait();
  }

 private:
  [[noreturn]] void hold(const Placement& placement, const std::string& name, UniqueFd ready,
                         UniqueFd release) {
    release_ = UniqueFd();  // so that reading ends when the parent closes its end
    {
      const auto held = claim_columns(kMap, placement, name);
      const char answer = held.ok() ? 'y' : 'n';
      char ignored = 0;
      if (::write(ready.get(), &answer, 1) != 1 || ::read(release.get(), &ignored, 1) < 0)
        ::_exit(1);
    }
    ::_exit(0);
  }
  void wait() {
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

  pid_t pid_ = 0;
  bool holds_ = false;
  UniqueFd ready_, release_;
};

TEST(ColumnTable, ColumnsOfAnotherProcessAreRefusedWithItsIdAndName) {
  Holder holder({4, true}, "runner \"A\" (model \"m\")");
  ASSERT_TRUE(holder.holds());
  for (const bool exclusive : {false, true}) {
    const Status refused = claim(6, exclusive).status();
    EXPECT_EQ(refused.code(), StatusCode::kBusy);
    EXPECT_THAT(refused.message(), AllOf(HasSubstr("runner \"A\" (model \"m\") of process " +
                                                   std::to_string(holder.pid())),
                                         HasSubstr("columns 4 to 7, exclusive")));
  }
  EXPECT_TRUE(claim(8, true).ok());
  holder.let_go();
  EXPECT_TRUE(claim(4, true).ok());
}

TEST(ColumnTable, SharedColumnsAreSharedAmongProcesses) {
  const Holder holder({4, false}, "A");
  ASSERT_TRUE(holder.holds());
  EXPECT_TRUE(claim(4, false).ok());
  EXPECT_THAT(claim(4, true).status().message(), HasSubstr("A of process"));
}

TEST(ColumnTable, AProcessThatWasKilledHoldsNothing) {
  Holder holder({4, true}, "A");
  ASSERT_TRUE(holder.holds());
  EXPECT_FALSE(claim(4, true).ok());
  holder.end(SIGKILL);
  EXPECT_TRUE(claim(4, true).ok());
}

TEST(ColumnTable, ClaimsPlacedFreelyAvoidTheColumnsOfOthers) {
  const Holder first({{}, true}, "A"), second({12, true}, "B");
  ASSERT_TRUE(first.holds() && second.holds());
  const auto exclusive = claim({}, true), shared = claim({}, false);
  ASSERT_TRUE(exclusive.ok() && shared.ok());
  EXPECT_EQ((*exclusive)->start_column, 4u) << "the first group that is free";
  EXPECT_EQ((*shared)->start_column, 8u) << "the next one";
}

TEST(ColumnTable, AModelOfAnotherProcessMayOccupyMoreColumns) {
  const Holder holder({4, false, 8}, "A");
  ASSERT_TRUE(holder.holds());
  EXPECT_THAT(claim(8, false).status().message(), HasSubstr("columns 4 to 11, shared"));
  EXPECT_TRUE(claim_columns(kMap, {4, false, 8}, "another").ok());
}

TEST(ColumnTable, OthersSeeTheClaimsOfThisProcess) {
  const auto held = claim(8, true);
  EXPECT_FALSE(Holder({8, false}, "A").holds());
  EXPECT_TRUE(Holder({4, true}, "A").holds());
}

// A process that writes records into the table and holds their locks until it is killed.
class RawHolder {
 public:
  explicit RawHolder(const std::string& content)
      : bytes_(static_cast<off_t>(content.size())),
        file_(::open(table.path().c_str(), O_RDWR | O_CLOEXEC)) {
    EXPECT_EQ(::pwrite(file_.get(), content.data(), content.size(), 0),
              static_cast<ssize_t>(content.size()));
    pid_ = ::fork();
    if (pid_ == 0) {
      struct flock lock = lock_of_records();
      ::fcntl(file_.get(), F_SETLK, &lock);
      ::pause();
      ::_exit(0);
    }
    struct flock lock = {};
    do {
      lock = lock_of_records();
      ::fcntl(file_.get(), F_GETLK, &lock);
    } while (lock.l_type == F_UNLCK);
  }
  ~RawHolder() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  struct flock lock_of_records() const {
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_len = bytes_;
    return lock;
  }

  const off_t bytes_;
  const UniqueFd file_;
  pid_t pid_ = 0;
};

TEST(ColumnTable, ATableWithNonsenseIsReadWithoutHarm) {
  std::string nonsense(256 * 3 + 17, '\xff');
  nonsense.replace(256, 4, "MRC1");
  {
    const RawHolder holder(nonsense);
    EXPECT_TRUE(claim(4, true).ok());
  }
  EXPECT_TRUE(claim({}, true).ok());
}

// The earlier version left 0 where the number of columns is now.
TEST(ColumnTable, AClaimOfTheEarlierVersionIsOfAGroup) {
  std::string record(256, '\0');
  record.replace(0, 4, "MRC1");
  record[4] = 4;  // the start column
  record[8] = 1;  // exclusive
  const RawHolder holder(record);
  for (const uint32_t start_column : {4U, 6U}) {
    const Status refused = claim(start_column, false).status();
    EXPECT_EQ(refused.code(), StatusCode::kBusy);
    EXPECT_THAT(refused.message(), HasSubstr("columns 4 to 7, exclusive"));
  }
  EXPECT_TRUE(claim(8, true).ok());
}

// The last one, as it removes the table of the whole program.
TEST(ColumnTable, IsGivenUpOnceItsFileIsRemoved) {
  const Holder holder({.start_column = 0, .exclusive = true}, "A");
  ASSERT_EQ(claim(0, false).status().code(), StatusCode::kBusy);
  std::filesystem::remove(table.path());
  size_t lines = 0;
  set_log_sink(
      [&](LogLevel, std::string_view, std::string_view line) {
        if (line.find("only: the table of columns was closed or removed") != line.npos) ++lines;
        EXPECT_TRUE(claim(8, true).ok()) << "a sink may claim columns of its own";
      },
      LogLevel::kWarning);
  EXPECT_TRUE(claim(0, true).ok());
  EXPECT_TRUE(claim(0, true).ok());
  set_log_sink({});
  EXPECT_EQ(lines, 1u);
}

}  // namespace
}  // namespace millrace::runtime
