// Plan: the form of each convolution of a model.
//
// MILLRACE_TUNING names a record of times (record.h). If it has all times that a model needs,
// measured on such a processor, the forms are the cheapest together with the reorders between them.
// With MILLRACE_TUNE=1 the times that it lacks are measured first, and added to the file. Otherwise
// the forms are those of a rule: that of the type, or kSeparable or kWinograd where that is
// worthwhile, and, in FP32, kChannelsLast for many channels of small images.
//
// Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "device/cpu/builder/form.h"
#include "device/cpu/plan/division.h"
#include "device/device.h"
#include "graph/compiled_model.h"

namespace millrace::device::cpu::plan {

// Why a node has its form: the candidates, their times, the source of those, and the choice. `text`
// is empty if there was no choice.
struct Reason {
  KernelChoice chosen_by = KernelChoice::kOnlyOne;
  std::string text = {};
};

struct Plan {
  std::vector<Form> forms;      // by node
  std::vector<Reason> reasons;  // by node
};

// `division` is that with which the program is made. Blocks while it measures; the thread is in no
// OpenMpThreads scope. A record that is of another processor or damaged stays as it is; the log
// says why it is not used.
Plan make_plan(const graph::CompiledModel& model, ElementType type, const Division& division,
               const dnnl::engine& engine);

// Identifies everything that times depend on besides the operator and the lanes: the processor,
// oneDNN, and the device's own kernels.
std::string fingerprint();

}  // namespace millrace::device::cpu::plan
