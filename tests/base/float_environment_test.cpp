// Tests the environment in which everything is computed, whatever the program's environment is.
#include "base/float_environment.h"

#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "base/log.h"
#include "base/process/thread.h"
#include "tests/support/float_environments.h"

namespace millrace {
namespace {

using test::FloatRegisters;
using test::ProgramFloats;
using test::ScopedProgramFloats;

// A number whose value the compiler does not know.
template <class Number>
Number volatile_of(Number number) {
  volatile Number unknown = number;
  return unknown;
}

// Sets flags of both units: it is inexact, overflows and gives a denormal number.
double compute() {
  volatile double third = 1.0 / volatile_of(3.0);
  volatile long double long_third = 1.0L / volatile_of(3.0L);
  volatile float tiny = std::numeric_limits<float>::min() / volatile_of(3.0F);
  volatile double huge = std::numeric_limits<double>::max() * volatile_of(3.0);
  return third + static_cast<double>(long_third) + static_cast<double>(tiny) + 1 / huge;
}

TEST(FloatEnvironment, IsTheDefaultOneInsideAndTheProgramsOwnAfterwards) {
  test::expect_same_in_every_float_environment([] {
    const DefaultFloatEnvironment floats;
    return compute();
  });
}

TEST(FloatEnvironment, MayBeEnteredTwice) {
  test::expect_same_in_every_float_environment([] {
    const DefaultFloatEnvironment outer;
    const double first = compute();
    {
      const DefaultFloatEnvironment inner;
      compute();
    }
    return first + compute();
  });
}

// The caller's own trap occurs at its next instruction, and not in ours.
TEST(FloatEnvironment, AnExceptionThatIsPendingStaysPending) {
#if defined(__x86_64__)
  FloatRegisters before, after;
  {
    volatile long double third = 1.0L / volatile_of(3.0L);
    static_cast<void>(third);
    const uint16_t traps_inexact = 0x035f;
    asm volatile("fldcw %0" : : "m"(traps_inexact));
    before = FloatRegisters::now();
    {
      const DefaultFloatEnvironment floats;
      compute();
    }
    after = FloatRegisters::now();
    asm volatile("fnclex");
    std::fesetenv(FE_DFL_ENV);
  }
  EXPECT_TRUE(before == after);
#endif
}

// The system gives a new thread the control registers of its creator.
TEST(FloatEnvironment, ThreadsOfTheLibraryBeginWithTheDefaultOne) {
  test::expect_same_in_every_float_environment([] {
    double computed = 0;
    Result<std::thread> thread = start_thread("millrace-test", [&] { computed = compute(); });
    if (thread.ok()) thread->join();
    return computed;
  });
}

TEST(FloatEnvironment, IsThatOfALogSinkWhichMayChangeIt) {
  double computed = 0;
  set_log_sink([&](LogLevel, std::string_view, std::string_view) {
    computed = compute();
    std::fesetround(FE_UPWARD);
  });
  test::expect_same_in_every_float_environment([&] {
    log(LogLevel::kError, "test", "a line");
    return computed;
  });
  set_log_sink({});
}

}  // namespace
}  // namespace millrace
