// The resources of the machine that this process may use: processor features, cores and quota. They
// are read once and cached. Thread-safe.
#pragma once

#include <string>
#include <vector>

namespace millrace {

struct CpuFeatures {
  bool avx2 = false;
  bool avx512 = false;       // F, BW, DQ and VL
  bool avx512_vnni = false;  // 8-bit dot products
  bool avx512_bf16 = false;  // BF16 dot products
  bool amx_bf16 = false;
  // True if BF16 products are not slower than FP32 products. On Intel processors since Sapphire
  // Rapids, those of AVX-512 have half the throughput of FP32 (docs/performance/roofline.md), so
  // there it is true only with AMX.
  bool fast_bf16 = false;
};

struct Topology {
  std::string cpu_model;  // the name in /proc/cpuinfo; empty if unknown
  CpuFeatures features;
  std::vector<int> cores;   // logical processors in this process's affinity mask, ascending
  double cgroup_cores = 0;  // the quota of the control group, in cores; 0: no limit
  // The number of threads that can usefully run at the same time: the number of cores, limited by
  // the quota (rounded up), at least 1.
  int core_budget = 1;
};

// Returns the topology, which is read by the first call.
const Topology& topology();

}  // namespace millrace
