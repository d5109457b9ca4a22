#include "vart/properties.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

namespace millrace::vartml {
namespace {

size_t free_memory_bytes() {
  const long pages = ::sysconf(_SC_AVPHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0 ? static_cast<size_t>(pages) * page_bytes : 0;
}

// What a bank without a limit has left is what the machine has.
std::vector<size_t> free_bytes_of(const memory::BankList& banks) {
  std::vector<size_t> free_bytes;
  for (const std::shared_ptr<memory::Bank>& bank : banks)
    free_bytes.push_back(bank->size() == memory::kUnlimited ? free_memory_bytes()
                                                            : bank->size() - bank->used());
  return free_bytes;
}

}  // namespace

std::any property_of(const runtime::LoadedProgram& loaded, const RunnerOptions& options,
                     uint32_t lanes, const memory::BankList& banks, const std::string& key) {
  const graph::CompiledModel& model = loaded.program->model();
  if (key == "model_name") return model.name;
  if (key == "name") return options.name;
  if (key == "device") return loaded.device->name();
  if (key == "precision") return std::string(name_of(loaded.program->info().precision));
  if (key == "nb_systems") return size_t{1};
  if (key == "nb_cores_per_system") return size_t{lanes};
  if (key == "batch_size_per_core") return size_t{model.batch_size};
  if (key == "onnx_scratch_bytes") return static_cast<size_t>(loaded.program->info().context_bytes);
  if (key == "nb_ddrs") return static_cast<uint8_t>(banks.size());
  if (key == "ddr_free_bytes") return free_bytes_of(banks);
  throw std::invalid_argument(fmt::format("a runner has no property \"{}\"", key));
}

}  // namespace millrace::vartml
