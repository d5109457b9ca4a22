// Starts the program in an address space that is too small for its libraries.
#include <string>

#include "tests/cli/cli_fixture.h"
#include "tests/support/address_checks.h"

namespace millrace::test {
namespace {

// Below some limit the loader cannot map a library and says so (127). Above that limit an
// initialiser finds no memory, or the program runs.
TEST_F(CliTest, StartsOrSaysWhyNotWhateverTheAddressSpace) {
  if (kChecksAddresses) GTEST_SKIP() << "AddressSanitizer needs terabytes of address space";
  for (int kib = 100'000; kib <= 400'000; kib += 10'000) {
    const ProgramResult result =
        run_program({"/bin/sh", "-c", "ulimit -v " + std::to_string(kib) + "; exec \"$@\"", "sh",
                     MILLRACE_PROGRAM, "--version"},
                    directory_.path().string());
    const bool loaded = result.exit_code != 127;
    EXPECT_TRUE(!loaded || result.exit_code <= 1) << kib << ": " << result.err;
    EXPECT_EQ(result.err.empty(), result.exit_code == 0) << kib << ": " << result.err;
  }
}

}  // namespace
}  // namespace millrace::test
