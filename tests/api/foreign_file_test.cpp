// Jobs on files of other programs, which these can truncate at any time.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "tests/api/native_fixture.h"

namespace millrace::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ForeignFile : public NativeApi {
 protected:
  static UniqueFd make_file() {
    UniqueFd fd(::memfd_create("shrinks", MFD_CLOEXEC));
    EXPECT_EQ(::ftruncate(fd.get(), 4096), 0);
    return fd;
  }
  // A job with that tensor as its input.
  JobArgs reading(TensorArg tensor) {
    job_.inputs()[0] = std::move(tensor);
    return job_.args();
  }

  const UniqueFd file_ = make_file();
  const Buffer buffer_ = Buffer::import_fd(file_.get(), 4096).value();
  JobMemory job_{model_};
  Unit unit_ = make_unit();
};

// Touching what is lost would end the process with SIGBUS.
TEST_F(ForeignFile, OneThatIsTruncatedFailsTheJobWithTheReason) {
  faults().release();
  EXPECT_TRUE(unit_.execute(model_, reading(buffer_)).ok());
  ASSERT_EQ(::ftruncate(file_.get(), 100), 0);
  const TensorArg forms[] = {TensorArg(buffer_), TensorArg(buffer_.span<float>()),
                             TensorArg(buffer_.data(), buffer_.size()),
                             TensorArg(*buffer_.slice(0, 1024)),
                             TensorArg(*Buffer::wrap(buffer_.data(), 1024))};
  for (const TensorArg& form : forms) {
    const Status status = unit_.execute(model_, reading(form));
    EXPECT_EQ(status.code(), StatusCode::kIoError);
    EXPECT_THAT(status.message(), AllOf(HasSubstr(kTinyInput), HasSubstr("truncated: it has 100")));
  }
  ASSERT_EQ(::ftruncate(file_.get(), 4096), 0);
  EXPECT_TRUE(unit_.execute(model_, reading(buffer_)).ok()) << "the unit goes on";
}

TEST_F(ForeignFile, AnOutputIsLookedAtToo) {
  faults().release();
  const UniqueFd file = make_file();
  const Buffer output = Buffer::import_fd(file.get(), 4096).value();
  job_.outputs()[0] = output;
  EXPECT_TRUE(unit_.execute(model_, job_.args()).ok());
  ASSERT_EQ(::ftruncate(file.get(), 0), 0);
  const Status status = unit_.execute(model_, job_.args());
  EXPECT_EQ(status.code(), StatusCode::kIoError);
  EXPECT_THAT(status.message(), HasSubstr(kTinyOutput));
}

TEST_F(ForeignFile, OneIsLookedAtWhenTheJobBegins) {
  Job running = submit_started(unit_);
  Job queued = unit_.submit(model_, reading(buffer_)).value();
  ASSERT_EQ(::ftruncate(file_.get(), 0), 0);
  faults().release();
  EXPECT_TRUE(running.wait(kForever).ok());
  EXPECT_EQ(queued.wait(kForever).code(), StatusCode::kIoError);
}

}  // namespace
}  // namespace millrace::test
