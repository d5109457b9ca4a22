#include "device/cpu/steps/stopwatch.h"

#include <cstring>
#include <vector>

namespace millrace::device::cpu {

dnnl::memory Stopwatch::filled(const Desc& desc) const {
  dnnl::memory memory(desc, engine_);
  constexpr int kNormalNumbers = 0x3c;  // in FP32 and BF16 alike
  std::memset(memory.get_data_handle(), kNormalNumbers, desc.get_size());
  return memory;
}

dnnl::memory Stopwatch::floats(size_t count) const {
  return filled(plain_desc({static_cast<int64_t>(count)}, ElementType::f32));
}

uint64_t Stopwatch::time(const dnnl::primitive& primitive,
                         std::span<const Operand> operands) const {
  std::vector<dnnl::memory> memories;
  std::vector<dnnl_exec_arg_t> arguments;
  for (const auto& [index, desc] : operands) {
    if (desc.get_size() == 0) continue;
    memories.push_back(filled(desc));
    arguments.push_back({index, memories.back().get()});
  }
  return time([&] {
    const Status status = execute(primitive, stream_, arguments);
    if (!status.ok())
      throw dnnl::error(dnnl_runtime_error, "a primitive failed while it was timed");
  });
}

}  // namespace millrace::device::cpu
