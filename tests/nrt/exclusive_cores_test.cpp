// Cores that belong to one process at a time. Two processes take part: one that has never called
// the library, and a child that it forks before it does.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "tests/nrt/fresh_process.h"
#include "tests/nrt/nrt_fixture.h"
#include "tests/support/temporary_directory.h"

namespace millrace::test {
namespace {

constexpr const char* kExclusive = "MILLRACE_NRT_EXCLUSIVE_CORES";

NRT_STATUS init_cores() {
  return nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "");
}

// A process that has called nrt_init, until this object ends it.
class OtherProcess {
 public:
  // `visible` are its cores. It calls nrt_close when close_runtime() asks for that, if it `closes`.
  explicit OtherProcess(const char* visible, bool closes = false) {
    int up[2], down[2];
    if (pipe(up) != 0 || pipe(down) != 0) std::abort();
    child_ = fork();
    if (child_ == 0) {
      setenv("NEURON_RT_VISIBLE_CORES", visible, 1);
      char byte = init_cores() == NRT_SUCCESS ? 'y' : 'n';
      if (write(up[1], &byte, 1) != 1 || read(down[0], &byte, 1) != 1) _exit(1);
      if (!closes) _exit(0);
      nrt_close();
      if (write(up[1], &byte, 1) != 1 || read(down[0], &byte, 1) != 1) _exit(1);
      _exit(0);
    }
    answers_ = up[0];
    orders_ = down[1];
    EXPECT_EQ(answer(), 'y');
  }
  ~OtherProcess() {
    order();
    waitpid(child_, nullptr, 0);
  }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;

  void close_runtime() {
    order();
    answer();
  }

 private:
  void order() const { EXPECT_EQ(write(orders_, "x", 1), 1); }
  char answer() const {
    char byte = 0;
    EXPECT_EQ(read(answers_, &byte, 1), 1);
    return byte;
  }

  pid_t child_ = -1;
  int answers_ = -1, orders_ = -1;
};

// The environment of all processes: four cores, exclusive by a file of the test. A fresh process
// has the file of the test that has started it, which removes it.
class ExclusiveCores : public testing::Test {
 protected:
  ExclusiveCores() {
    if (std::getenv(kExclusive) != nullptr) return;
    directory_.emplace();
    exclusive_.emplace(kExclusive, directory_->file("cores").c_str());
  }

 private:
  const ScopedEnvironment environment_{
      {{"MILLRACE_NRT_CORES", "4"}, {"MILLRACE_DEVICE", "null"}, {"NEURON_RT_LOG_LEVEL", "ERROR"}}};
  std::optional<TemporaryDirectory> directory_;
  std::optional<ScopedEnvironment> exclusive_;
};

void refuse_cores_in_use() {
  {
    const OtherProcess other("1-2");
    EXPECT_EQ(init_cores(), NRT_EXEC_NC_BUSY);
  }
  EXPECT_EQ(init_cores(), NRT_SUCCESS) << "the other process has ended without nrt_close";
}

TEST_F(ExclusiveCores, ThatAnotherProcessHasAreRefusedUntilItEnds) {
  EXPECT_FRESH(refuse_cores_in_use(),
               "not available - Requested:4 Available:2: in use are core 1 by process [0-9]+, "
               "core 2 by process");
}

void take_the_others() {
  OtherProcess other("1-2", true);
  EXPECT_EQ(init_cores(), NRT_EXEC_NC_BUSY);
  setenv("NEURON_RT_VISIBLE_CORES", "3", 1);
  EXPECT_EQ(init_cores(), NRT_SUCCESS);
  nrt_close();
  setenv("NEURON_RT_VISIBLE_CORES", "2-3", 1);
  EXPECT_EQ(init_cores(), NRT_EXEC_NC_BUSY);
  other.close_runtime();
  EXPECT_EQ(init_cores(), NRT_SUCCESS) << "nrt_close releases cores";
}

TEST_F(ExclusiveCores, AreThoseThatOverlapOnly) {
  EXPECT_FRESH(take_the_others(), "Requested:nc2-nc3 Available:1");
}

void take_any() {
  const OtherProcess other("1");
  setenv("NEURON_RT_NUM_CORES", "2", 1);
  EXPECT_EQ(init_cores(), NRT_SUCCESS);
  uint32_t cores = 0;
  EXPECT_EQ(nrt_get_visible_nc_count(&cores), NRT_SUCCESS);
  EXPECT_EQ(cores, 2u);
}

TEST_F(ExclusiveCores, MayBeAnyThatAreFreeWhereOnlyTheirNumberIsStated) {
  EXPECT_FRESH(take_any(), "");
}

void share() {
  unsetenv(kExclusive);
  const OtherProcess other("1-2");
  EXPECT_EQ(init_cores(), NRT_SUCCESS);
}

TEST_F(ExclusiveCores, AreSharedUnlessTheVariableIsSet) {
  EXPECT_FRESH(share(), "");
}

TEST_F(ExclusiveCores, NeedAFileThatCanBeUsed) {
  for (const char* wrong : {"yes", "2", "cores"}) {
    const ScopedEnvironment exclusive(kExclusive, wrong);
    EXPECT_EQ(init_cores(), NRT_INVALID) << wrong;
  }
  const ScopedEnvironment exclusive(kExclusive, "/no/such/folder/cores");
  EXPECT_NE(init_cores(), NRT_SUCCESS);
}

}  // namespace
}  // namespace millrace::test
