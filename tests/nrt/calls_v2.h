// The calls as programs of SDK 2.28 make them: with error trackers, on five kinds of units. For C
// and C++; their own header cannot be included beside the current one.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "nrt/nrt.h"

#ifdef __cplusplus
extern "C" {
#endif

enum v2_unit { V2_READ = 0, V2_WRITE = 1, V2_OP = 2, V2_COMPUTE = 3, V2_COLLECTIVES = 4 };

NRT_STATUS v2_read(void* buffer, nrt_tensor_t* tensor, size_t bytes, int queue, void* tracker,
                   uint64_t* sequence);
NRT_STATUS v2_write(nrt_tensor_t* tensor, const void* buffer, size_t bytes, int queue,
                    void* tracker, uint64_t* sequence);
NRT_STATUS v2_copy(nrt_tensor_t* from, nrt_tensor_t* to, size_t bytes, int queue, void* tracker,
                   uint64_t* sequence);
NRT_STATUS v2_execute(nrt_model_t* model, const nrt_tensor_set_t* inputs, nrt_tensor_set_t* outputs,
                      void* tracker, uint64_t* sequence);
NRT_STATUS v2_last_completed(uint32_t core, enum v2_unit unit, int queue, uint64_t* sequence);

#ifdef __cplusplus
}
#endif
