// `millrace doctor`: reports what this machine offers (instruction sets, cores, sharing of memory),
// whether each device opens, and whether the environment suits programs of the VART-ML and NRT
// APIs. It prints everything before it fails with the first error.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/process/topology.h"
#include "base/settings/environment.h"
#include "base/settings/variables.h"
#include "cli/commands.h"
#include "cli/nrt_findings.h"
#include "cli/print_escaped.h"
#include "cli/unknown_variables.h"
#include "device/registry.h"
#include "memory/bank.h"
#include "memory/bank_use.h"
#include "memory/buffer.h"
#include "memory/dma_buf.h"
#include "runtime/columns/columns.h"

namespace millrace::cli {
namespace {

void print_row(const char* what, const std::string& finding) {
  print_escaped("{:<18} {}\n", what, finding);
}

void print_heading(const char* heading) {
  print_escaped("\n{}\n", heading);
}

std::string feature_list(const CpuFeatures& features) {
  std::string list;
  const std::pair<bool, const char*> rows[] = {{features.avx2, "AVX2"},
                                               {features.avx512, "AVX-512"},
                                               {features.avx512_vnni, "VNNI"},
                                               {features.avx512_bf16, "BF16"},
                                               {features.amx_bf16, "AMX-BF16"}};
  for (const auto& [there, name] : rows)
    if (there) list += (list.empty() ? "" : ", ") + std::string(name);
  return list.empty() ? "none of AVX2, AVX-512, VNNI, BF16, AMX" : list;
}

const char* precisions(const CpuFeatures& features) {
  if (features.fast_bf16) return "FP32, BF16; FP16 archives are computed in FP32";
  if (features.avx512_bf16)
    return "FP32; BF16 archives are computed in FP32, which is faster here (MILLRACE_NO_BF16=0: in "
           "BF16), and so are FP16 archives";
  return "FP32; BF16 and FP16 archives are computed in FP32";
}

// Tests whether memory can be shared as a file descriptor: allocates a buffer, exports and imports
// it, and checks that both mappings show the same bytes.
std::string fd_sharing() {
  const auto source = memory::memory_source_of_environment();
  if (!source.ok()) return "no: " + source.status().message();
  auto made = memory::Buffer::allocate(1, *source);
  if (!made.ok()) return "no: " + made.status().message();
  const auto fd = made->export_fd();
  if (!fd.ok()) return "no: " + fd.status().message();
  auto imported = memory::Buffer::import_fd(*fd, 1);
  ::close(*fd);
  if (!imported.ok()) return "no: " + imported.status().message();
  made->data()[0] = std::byte{1};
  return imported->data()[0] == std::byte{1} ? fmt::format("yes, by {}", memory::to_string(*source))
                                             : "no: mappings differ";
}

void print_dma_buf_sources() {
  for (const auto source : {memory::MemorySource::kUdmabuf, memory::MemorySource::kDmaHeap}) {
    const Status usable = memory::check_source(source);
    print_row(std::string(memory::to_string(source)).c_str(),
              usable.ok() ? "usable" : "no: " + usable.message());
  }
}

Status print_device(const char* name) {
  auto device = device::open_device(name);
  if (!device.ok()) {
    print_row(fmt::format("device {}", name).c_str(), "FAILED: " + device.status().message());
    return device.status();
  }
  print_row(fmt::format("device {}", name).c_str(),
            fmt::format("{}, {} lanes", (*device)->description(), (*device)->lanes().count()));
  return {};
}

// Prints the banks that the environment configures, and all others in which a process of this user
// has memory.
Status print_banks() {
  const auto banks = memory::banks_of_environment();
  if (!banks.ok()) {
    print_row("memory banks", "FAILED: " + banks.status().message());
    return banks.status();
  }
  std::map<std::string, uint64_t> use = memory::bank_use_of_all_processes();
  const auto print_bank = [&](const std::string& name, const std::string& size) {
    print_row(fmt::format("bank {}", name).c_str(),
              fmt::format("{}, {} bytes in use by all processes", size, use[name]));
    use.erase(name);
  };
  for (const std::shared_ptr<memory::Bank>& bank : *banks)
    print_bank(bank->name(), bank->size() == memory::kUnlimited
                                 ? "unlimited"
                                 : fmt::format("{} bytes", bank->size()));
  while (!use.empty()) print_bank(std::string(use.begin()->first), "not set up here");
  return {};
}

// Prints the meaning of `start_column` on this machine: the group and the core of each column.
Status print_columns() {
  const Result<runtime::ColumnMap> map = runtime::ColumnMap::of_process();
  if (!map.ok()) {
    print_row("columns", "FAILED: " + map.status().message());
    return map.status();
  }
  print_row("columns", fmt::format("{} in {} groups", map->columns(), map->groups()));
  for (uint32_t group = 0; group < map->groups(); ++group)
    print_row(runtime::columns_from(group * runtime::kColumnsPerGroup).c_str(),
              fmt::format("group {}, core {}", group, map->core_of(group)));
  return {};
}

// Prints the libnrt that a program would find, and whether it starts with this environment.
Status print_nrt() {
  const NrtFindings found = look_at_nrt();
  print_row("libnrt.so.1", found.library);
  if (!found.started) return {};
  for (const std::string& line : found.log) print_row("its log", line);
  return *found.started;
}

// Prints the variables that are set with a prefix of Millrace or NRT, and marks unknown ones, which
// may be misspelt.
void print_variables() {
  const std::vector<std::string> unknown = unknown_variables();
  for (const char* prefix : {"MILLRACE_", "NEURON_RT_"}) {
    for (const std::string& name : variables_with_prefix(prefix)) {
      const bool is_unknown = std::ranges::count(unknown, name) != 0;
      const std::string mark =
          is_unknown ? fmt::format("  (unknown: nothing reads it{})", meant_variable(name)) : "";
      print_row("variable", fmt::format("{}={}{}", name, std::getenv(name.c_str()), mark));
    }
  }
}

}  // namespace

Status run_doctor() {
  const Topology& machine = topology();
  print_row("millrace", MILLRACE_VERSION);
  print_row("processor", machine.cpu_model.empty() ? "unknown" : machine.cpu_model);
  print_row("instruction sets", feature_list(machine.features));
  print_row("precisions", precisions(machine.features));
  print_row("cores", fmt::format("{} usable", machine.cores.size()));
  print_row("quota",
            machine.cgroup_cores > 0 ? fmt::format("{:.2f} cores", machine.cgroup_cores) : "none");
  print_row("core budget", fmt::format("{} lanes", machine.core_budget));
  print_row("fd sharing", fd_sharing());
  print_dma_buf_sources();
  const Status null_device = print_device("null");
  const Status cpu_device = print_device("cpu");
  const Status faulty_device = print_device("faulty-cpu");
  print_heading("programs of the VART-ML API");
  const Status columns = print_columns();
  const Status banks = print_banks();
  print_heading("programs of the NRT API");
  Status nrt = print_nrt();
  print_heading("environment");
  print_variables();
  MILLRACE_RETURN_IF_ERROR(columns);
  MILLRACE_RETURN_IF_ERROR(banks);
  MILLRACE_RETURN_IF_ERROR(null_device);
  MILLRACE_RETURN_IF_ERROR(cpu_device);
  MILLRACE_RETURN_IF_ERROR(faulty_device);
  return nrt;
}

}  // namespace millrace::cli
