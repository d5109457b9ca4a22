// load says what is wrong with an archive.
#include <fstream>

#include "tests/conformance/support/behaviour.h"
#include "tests/support/temporary_directory.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(bad_archives) {
  test::TemporaryDirectory directory;
  EXPECT_STATUS(device().load(directory.file("none.rai")).status(), kNotFound);
  const std::string path = directory.file("text.rai");
  std::ofstream(path) << "a mill is no archive, but it has a wheel that turns in the water\n";
  EXPECT_STATUS(device().load(path).status(), kCorruptData);
}

}  // namespace
}  // namespace millrace::conformance
