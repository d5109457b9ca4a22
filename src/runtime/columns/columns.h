// Columns: the parts of the NPU by which programs for the board place their models. The software
// NPU emulates them. They form groups of four; each group stands for a core, so that every column
// is valid on any machine.
//
//   columns   0-3      4-7      8-11     12-15   ...
//   group     0        1        2        3
//   core      first    second   first    second        with a budget of two cores: round robin
//
// A model occupies four columns for each compute unit that it is compiled for, from its start
// column on, which need not be a multiple of four. It belongs to the group that contains its start
// column.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace millrace::runtime {

inline constexpr uint32_t kColumnsPerGroup = 4;
inline constexpr uint32_t kDefaultColumns = 36;
inline constexpr uint32_t kMostColumns = 1024;  // more than any board has

class ColumnMap {
 public:
  // Returns the map of this process: the number of columns is that of the environment variable
  // MILLRACE_COLUMNS, 36 if it is not set, and the cores are those of the budget. kInvalidArgument
  // if the variable is not a multiple of four from 4 to 1024. Thread-safe.
  static Result<ColumnMap> of_process();

  // Requirement: `columns` is a multiple of four, and there is a core.
  ColumnMap(uint32_t columns, std::vector<int> cores);

  uint32_t columns() const noexcept { return columns_; }
  uint32_t groups() const noexcept { return columns_ / kColumnsPerGroup; }
  // The last column from which on there are enough columns for the smallest model.
  uint32_t last_start_column() const noexcept { return columns_ - kColumnsPerGroup; }
  static uint32_t group_of(uint32_t column) noexcept { return column / kColumnsPerGroup; }
  // Returns the logical processor that a group stands for.
  int core_of(uint32_t group) const noexcept { return cores_[group % cores_.size()]; }

 private:
  uint32_t columns_;
  std::vector<int> cores_;
};

// Returns "columns 4 to 7" for four columns from start column 4 on, for messages.
std::string columns_from(uint32_t start_column, uint32_t columns = kColumnsPerGroup);

}  // namespace millrace::runtime
