// What is left of nrt_experimental.h: calls around features that the software NPU does not have.
#include <chrono>
#include <cstring>
#include <string_view>

#include "nrt/calls/call.h"
#include "nrt/nrt_experimental.h"

using namespace millrace::nrt;

extern "C" {

NRT_STATUS nrt_register_async_exec_callback(NRT_ASYNC_EXEC_STATUS_CALLBACK, void*) {
  return with_runtime("nrt_register_async_exec_callback", [](Runtime&) { return NRT_SUCCESS; });
}

NRT_STATUS nrt_async_drain_queued_execs(int32_t vnc) {
  constexpr const char* kCall = "nrt_async_drain_queued_execs";
  return with_runtime(kCall, [&](Runtime& runtime) {
    if (const millrace::Status core = runtime.check_core(vnc); !core.ok())
      return report(kCall, core);
    trace::note_core(vnc);
    RequestUnit* const unit =
        runtime.units().find(number_of({static_cast<uint32_t>(vnc), UnitKind::kCompute, 0}));
    if (unit == nullptr) return NRT_SUCCESS;
    return report(kCall,
                  unit->queue().wait_free(unit->queue().depth(), std::chrono::nanoseconds::max()));
  });
}

void* nrt_get_libnccl_net(int* err, char* err_msg, size_t err_msg_size) {
  constexpr std::string_view kReason = "the software NPU has no network plugin for collectives";
  if (err != nullptr) *err = NRT_FAILURE;
  if (err_msg != nullptr && err_msg_size > 0)
    err_msg[kReason.copy(err_msg, err_msg_size - 1)] = '\0';
  return nullptr;
}

NRT_STATUS nrt_set_pool_eng_ucode(const nrt_ucode_info* ucode_info) {
  return ucode_info == nullptr ? NRT_INVALID : NRT_SUCCESS;
}

}  // extern "C"
