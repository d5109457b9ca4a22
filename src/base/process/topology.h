// The resources of the machine that this process may use: processor features, cores and quota.
//
// Read once and cached. Thread-safe.
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
  // Whether products of BF16 take no longer than those of FP32. Intel's processors since Sapphire
  // Rapids compute half as many in the same time (docs/performance/roofline.md), but for AMX.
  bool fast_bf16 = false;
};

struct Topology {
  std::string cpu_model;  // as the kernel names it; empty when unknown
  CpuFeatures features;
  std::vector<int> cores;   // logical processors in this process's affinity mask, ascending
  double cgroup_cores = 0;  // processor time the control group allows, in cores; 0 is no limit
  // Number of threads that can usefully run at the same time: the cores, limited by the quota
  // (rounded up), at least 1.
  int core_budget = 1;
};

const Topology& topology();

}  // namespace millrace
