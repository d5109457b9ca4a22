// Floating-point environments that a program may have when it calls Millrace: a call gives the same
// results in each of them, and leaves it as it was.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cfenv>
#include <cstdint>
#include <utility>

namespace millrace::test {

enum class ProgramFloats : uint8_t { kUpward, kDownward, kTowardZero, kFlushing, kTrapping };

inline constexpr std::array kProgramFloats = {ProgramFloats::kUpward, ProgramFloats::kDownward,
                                              ProgramFloats::kTowardZero, ProgramFloats::kFlushing,
                                              ProgramFloats::kTrapping};

inline const char* name_of(ProgramFloats floats) {
  constexpr const char* kNames[] = {"FE_UPWARD", "FE_DOWNWARD", "FE_TOWARDZERO",
                                    "denormal numbers are zero", "every exception is a trap"};
  return kNames[static_cast<size_t>(floats)];
}

// The registers of the calling thread: control words, and the exception flags of both units.
struct FloatRegisters {
  uint32_t sse = 0;
  uint16_t x87_control = 0, x87_flags = 0;

  static FloatRegisters now() noexcept {
    FloatRegisters registers;
#if defined(__x86_64__)
    registers.sse = __builtin_ia32_stmxcsr();
    asm volatile("fnstcw %0\n\tfnstsw %1" : "=m"(registers.x87_control), "=m"(registers.x87_flags));
    registers.x87_flags &= 0xff;
#else
    registers.sse = static_cast<uint32_t>(std::fegetround());
    registers.x87_flags = static_cast<uint16_t>(std::fetestexcept(FE_ALL_EXCEPT));
#endif
    return registers;
  }
  bool operator==(const FloatRegisters&) const = default;
};

// The calling thread has the environment while this exists, and then the default one. If it has
// traps, the program itself must not compute.
class ScopedProgramFloats {
 public:
  explicit ScopedProgramFloats(ProgramFloats floats) {
    std::feclearexcept(FE_ALL_EXCEPT);
    if (floats != ProgramFloats::kTrapping) std::feraiseexcept(FE_OVERFLOW);
    switch (floats) {
      case ProgramFloats::kUpward:
        std::fesetround(FE_UPWARD);
        break;
      case ProgramFloats::kDownward:
        std::fesetround(FE_DOWNWARD);
        break;
      case ProgramFloats::kTowardZero:
        std::fesetround(FE_TOWARDZERO);
        break;
      case ProgramFloats::kFlushing:
#if defined(__x86_64__)
        __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#endif
        break;
      case ProgramFloats::kTrapping:
        feenableexcept(FE_ALL_EXCEPT);
        break;
    }
  }
  ~ScopedProgramFloats() {
    std::fesetenv(FE_DFL_ENV);
  }
  ScopedProgramFloats(const ScopedProgramFloats&) = delete;
  ScopedProgramFloats& operator=(const ScopedProgramFloats&) = delete;
};

// `call` returns a value that can be compared.
template <class Call>
void expect_same_in_every_float_environment(Call&& call) {
  const auto expected = call();
  for (const ProgramFloats floats : kProgramFloats) {
    FloatRegisters before, after;
    auto result = expected;
    {
      const ScopedProgramFloats scope(floats);
      before = FloatRegisters::now();
      result = call();
      after = FloatRegisters::now();
    }
    EXPECT_TRUE(result == expected) << name_of(floats) << ": another result";
    EXPECT_TRUE(after == before) << name_of(floats) << ": the environment is another one";
  }
}

}  // namespace millrace::test
