#include "runtime/columns.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/topology.h"

namespace millrace::runtime {
namespace {

Result<uint32_t> columns_of_process() {
  const char* set = std::getenv("MILLRACE_COLUMNS");
  if (set == nullptr || *set == '\0') return kDefaultColumns;
  const std::string_view text(set);
  uint32_t columns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
  if (error == std::errc() && end == text.data() + text.size() && columns >= kColumnsPerGroup &&
      columns <= kMostColumns && columns % kColumnsPerGroup == 0)
    return columns;
  return invalid_argument(
      fmt::format("MILLRACE_COLUMNS is \"{}\": it takes a multiple of {} from {} to {}", text,
                  kColumnsPerGroup, kColumnsPerGroup, kMostColumns));
}

// Under a quota of processor time not all cores that may be used are worth using.
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

std::string columns_from(uint32_t start_column) {
  return fmt::format("columns {} to {}", start_column, start_column + kColumnsOfAModel - 1);
}

}  // namespace millrace::runtime
