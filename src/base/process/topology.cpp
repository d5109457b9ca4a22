#include "base/process/topology.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/float_environment.h"
#include "base/max_isa.h"
#include "base/never_destroyed.h"
#include "base/process/cgroup.h"

namespace millrace {
namespace {

CpuFeatures read_features() {
  CpuFeatures features;
#if defined(__x86_64__)
  __builtin_cpu_init();
  features.avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  features.avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  features.avx512_vnni = features.avx512 && __builtin_cpu_supports("avx512vnni");
  // __builtin_cpu_supports of g++ 12 and clang 14 does not know these two, so the flags of
  // /proc/cpuinfo are used.
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("flags")) continue;
    const std::string padded = line + " ";
    features.avx512_bf16 = features.avx512 && padded.find(" avx512_bf16 ") != std::string::npos;
    features.amx_bf16 = padded.find(" amx_bf16 ") != std::string::npos;
    break;
  }
#endif
  return features;
}

// Applies MILLRACE_MAX_ISA. An invalid value is ignored here; opening a device that computes
// reports it.
CpuFeatures limited(CpuFeatures features, const Result<MaxIsa>& isa) {
  if (!isa.ok()) return features;
  features.avx512 &= *isa >= MaxIsa::kAvx512;
  features.avx512_vnni &= *isa >= MaxIsa::kAvx512Vnni;
  features.avx512_bf16 &= *isa >= MaxIsa::kAvx512Bf16;
  features.amx_bf16 &= *isa >= MaxIsa::kAmx;
  return features;
}

bool has_fast_bf16(const CpuFeatures& features) {
#if defined(__x86_64__)
  const bool has_slow_products =
      __builtin_cpu_is("intel") != 0 && __builtin_cpu_is("cooperlake") == 0 && !features.amx_bf16;
#else
  const bool has_slow_products = false;
#endif
  return features.avx512_bf16 && !has_slow_products;
}

// arm64 has numbers in place of a name: of who made the core, and which core it is.
std::string read_cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  std::string maker;
  for (std::string line; std::getline(info, line);) {
    const size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    std::string value = line.substr(colon + 2);
    if (line.starts_with("model name")) return value;
    if (line.starts_with("CPU implementer")) maker = value;
    if (line.starts_with("CPU part")) return fmt::format("Arm {} {}", maker, value);
  }
  return {};
}

std::vector<int> read_affinity() {
  std::vector<int> cores;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return {0};
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

Topology read_topology() {
  const DefaultFloatEnvironment floats;
  Topology result;
  result.cpu_model = read_cpu_model();
  result.features = limited(read_features(), max_isa());
  result.features.fast_bf16 = has_fast_bf16(result.features);
  result.cores = read_affinity();
  result.cgroup_cores = cgroup_cores();
  int budget = static_cast<int>(result.cores.size());
  if (result.cgroup_cores > 0)
    budget = std::min(budget, static_cast<int>(std::ceil(result.cgroup_cores)));
  result.core_budget = std::max(1, budget);
  return result;
}

}  // namespace

const Topology& topology() {
  static NeverDestroyed<Topology> cached(read_topology());
  return cached.get();
}

}  // namespace millrace
