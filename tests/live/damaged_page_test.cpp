// Pages that a hostile or broken process of the user could publish. This process does.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <new>

#include "base/unique_fd.h"
#include "live/process_page.h"
#include "live/reader.h"

namespace millrace::live {
namespace {

using std::chrono::milliseconds;

class DamagedPage : public testing::Test {
 protected:
  // Publishes a page that is as it should be, for tests to damage.
  void publish(size_t bytes = sizeof(ProcessPage), int seals = F_SEAL_SHRINK) {
    file_ =
        UniqueFd(::memfd_create(std::string(kPageName).c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
    ASSERT_TRUE(file_);
    ASSERT_EQ(::ftruncate(file_.get(), static_cast<off_t>(bytes)), 0);
    if (seals != 0) {
      ASSERT_EQ(::fcntl(file_.get(), F_ADD_SEALS, seals), 0);
    }
    if (bytes < sizeof(ProcessPage)) return;
    void* const memory =
        ::mmap(nullptr, sizeof(ProcessPage), PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
    ASSERT_NE(memory, MAP_FAILED);
    page_ = new (memory) ProcessPage{};
    page_->signature = kPageSignature;
    page_->pid = ::getpid();
    ProcessView view{};
    view.units = 1;
    view.unit[0].submitted = 7;
    write_view(*page_, view);
  }
  ~DamagedPage() override {
    if (page_ != nullptr) ::munmap(page_, sizeof(ProcessPage));
  }
  static Result<ShownProcess> ask() { return ask_process(::getpid(), milliseconds(0)); }

  UniqueFd file_;
  ProcessPage* page_ = nullptr;
};

TEST_F(DamagedPage, IsReadWhereItIsWhole) {
  publish();
  const Result<ShownProcess> process = ask();
  ASSERT_TRUE(process.ok()) << process.status().message();
  EXPECT_FALSE(process->has_answered) << "nobody answers here";
  ASSERT_EQ(process->units.size(), 1u);
  EXPECT_EQ(process->units[0].submitted, 7u);
}

TEST_F(DamagedPage, OfAnotherVersionIsIgnored) {
  publish();
  page_->signature.back() = '!';
  EXPECT_EQ(ask().status().code(), StatusCode::kNotFound);
}

TEST_F(DamagedPage, OfAnotherProcessIsIgnored) {
  publish();
  page_->pid = ::getppid();
  EXPECT_EQ(ask().status().code(), StatusCode::kNotFound);
}

TEST_F(DamagedPage, ThatIsTooSmallIsIgnored) {
  publish(sizeof(ProcessPage) - 1);
  EXPECT_EQ(ask().status().code(), StatusCode::kNotFound);
}

// Its memory could vanish while it is read.
TEST_F(DamagedPage, ThatCanShrinkIsIgnored) {
  publish(sizeof(ProcessPage), 0);
  EXPECT_EQ(ask().status().code(), StatusCode::kNotFound);
}

TEST_F(DamagedPage, ThatIsNeverWholeIsRefused) {
  publish();
  page_->writes = 1;
  EXPECT_EQ(ask().status().code(), StatusCode::kBusy);
}

// Counts beyond the page, names without an end, times below zero.
TEST_F(DamagedPage, WithArbitraryContentIsBounded) {
  publish();
  ProcessView view;
  std::memset(&view, 0xff, sizeof(view));
  write_view(*page_, view);
  const Result<ShownProcess> process = ask();
  ASSERT_TRUE(process.ok());
  EXPECT_EQ(process->units.size(), kMostUnits);
  for (const ShownUnit& unit : process->units) {
    EXPECT_EQ(unit.name.size(), kNameBytes);
    EXPECT_GE(unit.mean_run_ns, 0);
  }
}

}  // namespace
}  // namespace millrace::live
