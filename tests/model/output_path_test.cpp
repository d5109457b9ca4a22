#include "model/output_path.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temporary_directory.h"

namespace millrace::model {
namespace {

namespace fs = std::filesystem;

TEST(TemporaryOutput, RemovesWhatItsOwnerCreated) {
  const test::TemporaryDirectory directory;
  fs::path name;
  {
    TemporaryOutput output(directory.file("a.rai"));
    name = output.name();
    std::ofstream(name) << "part";
    output.mark_created();
  }
  EXPECT_FALSE(fs::exists(name));
}

TEST(TemporaryOutput, LeavesWhatAnotherProcessCreatedUnderItsName) {
  const test::TemporaryDirectory directory;
  fs::path name;
  {
    const TemporaryOutput output(directory.file("a.rai"));
    name = output.name();
    std::ofstream(name) << "not ours";
  }
  EXPECT_TRUE(fs::exists(name));
}

}  // namespace
}  // namespace millrace::model
