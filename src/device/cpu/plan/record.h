// Record: the times that were measured on a processor, as text in a file. It holds no plan: a plan
// follows from the times of the operators of a model, so a record serves many models, and the same
// times give the same plan. Times are kept by the number of lanes that take part in an operator.
//
//   millrace-tuning 2
//   fingerprint <TAB> TEXT
//   lanes <TAB> NUMBER                 that took part in what follows
//   conv <TAB> CONVOLUTION             one that has no kernel to choose
//   conv <TAB> CONVOLUTION <TAB> FORM <TAB> SOURCE <TAB> RESULT <TAB> KERNEL <TAB> NANOSECONDS
//   move <TAB> TENSOR AND LAYOUTS <TAB> NANOSECONDS
//
// CONVOLUTION may be two, with "then" between them. They have the form kSeparable, and no other
// has.
//
// In version 1 there was one lane, which its fingerprint said: such a file is read, too.
//
// A record belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "device/cpu/builder/form.h"

namespace millrace::device::cpu::plan {

// A form of a convolution: the layouts of its images ("acdb", "aBcd16b"), the kernel as oneDNN
// calls it, and how long it takes.
struct Candidate {
  Form form = Form::kBlocked;
  std::string source, result, kernel;
  uint64_t nanoseconds = 0;
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

// Nanoseconds, by all that they depend on.
struct LaneTimes {
  std::map<std::string, std::vector<Candidate>> convolutions;  // empty: no choice
  std::map<std::string, uint64_t> moves;                       // from one layout to another
  friend bool operator==(const LaneTimes&, const LaneTimes&) = default;
};

struct Record {
  std::string fingerprint;              // of what was measured: processor, library
  std::map<uint32_t, LaneTimes> lanes;  // by the number of lanes that took part
  friend bool operator==(const Record&, const Record&) = default;
};

// Stands between the keys of two convolutions that could be one step.
inline constexpr std::string_view kBetweenPair = " then ";
// Whether the key in LaneTimes::convolutions is that of two.
bool is_of_pair(std::string_view key) noexcept;

std::string to_text(const Record& record);
// Fails with kCorruptData, which names the line that makes no sense.
Result<Record> parse_record(std::string_view text);

}  // namespace millrace::device::cpu::plan
