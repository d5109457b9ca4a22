#include "vart/properties.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "graph/precision_name.h"

namespace millrace::vartml {
namespace {

uint64_t machine_memory_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0 ? static_cast<uint64_t>(pages) * page_bytes : 0;
}

// Returns what is not charged of each bank. A bank without a limit counts as large as the memory of
// the machine: what that has free changes with every other process, but programs compare the
// numbers before and after their own allocations.
std::vector<size_t> free_bytes_of(const memory::BankList& banks) {
  const uint64_t machine = machine_memory_bytes();
  std::vector<size_t> free_bytes;
  for (const std::shared_ptr<memory::Bank>& bank : banks) {
    const uint64_t size = bank->size() == memory::kUnlimited ? machine : bank->size();
    free_bytes.push_back(size - std::min(size, bank->used()));
  }
  return free_bytes;
}

struct Subject {
  const runtime::LoadedProgram& loaded;
  const RunnerOptions& options;
  const runtime::Session& session;
  const memory::BankList& banks;

  const graph::CompiledModel& model() const { return loaded.program->model(); }
  device::ProgramInfo info() const { return loaded.program->info(); }
};

struct Property {
  std::string_view key;
  std::any (*of)(const Subject& subject);
};

constexpr std::array kProperties = {
    Property{"model_name", [](auto& it) -> std::any { return it.model().name; }},
    Property{"name", [](auto& it) -> std::any { return it.options.name; }},
    Property{"device", [](auto& it) -> std::any { return it.loaded.device->name(); }},
    Property{"precision",
             [](auto& it) -> std::any {
               return graph::precision_name(it.model(), it.info().precision);
             }},
    Property{"nb_systems", [](auto&) -> std::any { return size_t{1}; }},
    Property{"nb_cores_per_system",
             [](auto& it) -> std::any { return size_t{it.session.lane_count()}; }},
    Property{"batch_size_per_core",
             [](auto& it) -> std::any { return size_t{it.model().batch_size}; }},
    Property{"columns", [](auto& it) -> std::any { return size_t{it.loaded.columns}; }},
    Property{"onnx_scratch_bytes",
             [](auto& it) -> std::any { return static_cast<size_t>(it.info().context_bytes); }},
    Property{
        "converted_tensors",
        [](auto& it) -> std::any { return static_cast<size_t>(it.session.conversions().tensors); }},
    Property{
        "converted_bytes",
        [](auto& it) -> std::any { return static_cast<size_t>(it.session.conversions().bytes); }},
    Property{"nb_ddrs", [](auto& it) -> std::any { return static_cast<uint8_t>(it.banks.size()); }},
    Property{"ddr_free_bytes", [](auto& it) -> std::any { return free_bytes_of(it.banks); }},
};

std::string every_key() {
  std::vector<std::string_view> keys;
  for (const Property& property : kProperties) keys.push_back(property.key);
  return fmt::format("{}", fmt::join(keys, ", "));
}

}  // namespace

std::any property_of(const runtime::LoadedProgram& loaded, const RunnerOptions& options,
                     const runtime::Session& session, const memory::BankList& banks,
                     const std::string& key) {
  for (const Property& property : kProperties)
    if (property.key == key) return property.of({loaded, options, session, banks});
  throw std::invalid_argument(
      fmt::format("a runner has no property \"{}\": it has {}", key, every_key()));
}

}  // namespace millrace::vartml
