// The tables that are part of the device, and times out of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/cpu/plan/table/table.h"
#include "device/cpu/plan/times.h"

namespace millrace::device::cpu::plan {

struct ShippedTable {
  const char* name;  // of the instruction set, as MILLRACE_MAX_ISA calls it
  std::string_view text;
};
// Returns all of them, one for each type and instruction set.
std::vector<ShippedTable> shipped_tables();

// The one for convolutions in `type` on this processor, if there is one. Thread-safe.
struct UsedTable {
  const char* name;
  const Table* table;  // lives as long as the process
};
std::optional<UsedTable> used_table(ElementType type);

// Times of one lane, for any number of lanes, which save about the same for all forms. Knows
// convolutions of images with two dimensions, square windows and strides, and more channels than
// those of pictures. `table` must outlive the object.
class TableTimes final : public Times {
 public:
  explicit TableTimes(const Table& table) : table_(table) {}
  std::optional<std::vector<Candidate>> candidates(const kernels::Convolution& convolution,
                                                   uint32_t lanes) override;
  std::optional<Candidate> pair(const kernels::Convolution& pointwise,
                                const kernels::Convolution& depthwise, uint32_t lanes) override;
  std::optional<uint64_t> move(const Dims& dims, ElementType type, const std::string& from,
                               const std::string& to, uint32_t lanes) override;

 private:
  const Table& table_;
};

// Returns the candidate of a form that has no time. Its layouts are those of the kernels, as far as
// they are known without those.
Candidate untimed(const kernels::Convolution& convolution, Form form);

}  // namespace millrace::device::cpu::plan
