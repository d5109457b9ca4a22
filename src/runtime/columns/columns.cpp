#include "runtime/columns/columns.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "base/process/topology.h"
#include "base/settings/environment.h"
#include "graph/archive/codec.h"

namespace millrace::runtime {
namespace {

static_assert(kColumnsPerGroup == graph::kColumnsOfAUnit, "a compute unit is a group of columns");

Result<uint32_t> columns_of_process() {
  const std::string_view text = environment_variable("MILLRACE_COLUMNS");
  if (text.empty()) return kDefaultColumns;
  const Result<uint64_t> columns = parse_number(text);
  if (columns.ok() && *columns >= kColumnsPerGroup && *columns <= kMostColumns &&
      *columns % kColumnsPerGroup == 0)
    return static_cast<uint32_t>(*columns);
  return invalid_argument(
      fmt::format("MILLRACE_COLUMNS is \"{}\": it takes a multiple of {} from {} to {}", text,
                  kColumnsPerGroup, kColumnsPerGroup, kMostColumns));
}

// Returns the cores of the budget, which is smaller than the set of allowed cores if a quota limits
// the processor time.
std::vector<int> cores_of_budget() {
  std::vector<int> cores = topology().cores;
  cores.resize(static_cast<size_t>(topology().core_budget));
  return cores;
}

}  // namespace

Result<ColumnMap> ColumnMap::of_process() {
  MILLRACE_ASSIGN_OR_RETURN(const uint32_t columns, columns_of_process());
  return ColumnMap(columns, cores_of_budget());
}

ColumnMap::ColumnMap(uint32_t columns, std::vector<int> cores)
    : columns_(columns), cores_(std::move(cores)) {}

std::string columns_from(uint32_t start_column, uint32_t columns) {
  return fmt::format("columns {} to {}", start_column, start_column + columns - 1);
}

}  // namespace millrace::runtime
