// Numbers and layouts that programs were built with elsewhere.
#include <assert.h>
#include <ndl/ndl.h>
#include <ndl/neuron_driver_shared_tensor_batch_op.h>
#include <nrt/ndebug_stream.h>
#include <nrt/nds/neuron_ds.h>
#include <nrt/nrt_async.h>
#include <nrt/nrt_profile.h>
#include <nrt/nrt_version.h>
#include <stddef.h>

#define IS(number, name) static_assert((int)(name) == (number), #name)
#define SIZE(bytes, type) static_assert(sizeof(type) == (bytes), #type)
#define AT(bytes, type, field) static_assert(offsetof(type, field) == (bytes), #type "." #field)

IS(0, NRT_SUCCESS);
IS(1, NRT_FAILURE);
IS(2, NRT_INVALID);
IS(3, NRT_INVALID_HANDLE);
IS(4, NRT_RESOURCE);
IS(5, NRT_TIMEOUT);
IS(6, NRT_HW_ERROR);
IS(7, NRT_QUEUE_FULL);
IS(9, NRT_LOAD_NOT_ENOUGH_NC);
IS(10, NRT_UNSUPPORTED_NEFF_VERSION);
IS(11, NRT_FAIL_HOST_MEM_ALLOC);
IS(13, NRT_UNINITIALIZED);
IS(14, NRT_CLOSED);
IS(15, NRT_QUEUE_EMPTY);
IS(101, NRT_EXEC_UNIT_UNRECOVERABLE);
IS(101, NRT_EXEC_UNIT_DISABLED);
IS(1002, NRT_EXEC_BAD_INPUT);
IS(1003, NRT_EXEC_COMPLETED_WITH_NUM_ERR);
IS(1004, NRT_EXEC_COMPLETED_WITH_ERR);
IS(1005, NRT_EXEC_NC_BUSY);
IS(1006, NRT_EXEC_OOB);
IS(1100, NRT_COLL_PENDING);
IS(1200, NRT_EXEC_HW_ERR_COLLECTIVES);
IS(1201, NRT_EXEC_HW_ERR_HBM_UE);
IS(1202, NRT_EXEC_HW_ERR_NC_UE);
IS(1203, NRT_EXEC_HW_ERR_DMA_ABORT);
IS(1204, NRT_EXEC_SW_NQ_OVERFLOW);
IS(1205, NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE);
IS(1206, NRT_NETWORK_PROXY_FAILURE);
SIZE(4, NRT_STATUS);

IS(2, NRT_MAJOR_VERSION);
IS(0, NRT_MINOR_VERSION);
IS(256, NRT_TENSOR_NAME_MAX);
IS(0, NRT_TENSOR_PLACEMENT_DEVICE);
IS(1, NRT_TENSOR_PLACEMENT_HOST);
IS(2, NRT_TENSOR_PLACEMENT_VIRTUAL);
IS(0, NRT_FRAMEWORK_TYPE_INVALID);
IS(1, NRT_FRAMEWORK_TYPE_NO_FW);
IS(2, NRT_FRAMEWORK_TYPE_TENSORFLOW);
IS(3, NRT_FRAMEWORK_TYPE_PYTORCH);
IS(4, NRT_FRAMEWORK_TYPE_MXNET);
IS(5, NRT_FRAMEWORK_TYPE_PRECHECK);
IS(0, NRT_INSTANCE_UNKNOWN);
IS(1, NRT_INSTANCE_INF1);
IS(2, NRT_INSTANCE_TRN1);
IS(3, NRT_INSTANCE_TRN1N);
IS(4, NRT_INSTANCE_INF2);
IS(5, NRT_INSTANCE_TRN2);
IS(6, NRT_INSTANCE_TRN2N);
IS(7, NRT_INSTANCE_INF2E);
IS(8, NRT_INSTANCE_TRN2P);
IS(9, NRT_INSTANCE_TRN2U);
IS(10, NRT_INSTANCE_TRN2E);
IS(11, NRT_INSTANCE_TRN2EU);
IS(12, NRT_INSTANCE_TRN2AC);
IS(13, NRT_INSTANCE_TRN2UAC);
IS(14, NRT_INSTANCE_TRN3);
IS(15, NRT_INSTANCE_TRN3PDS98);
IS(16, NRT_INSTANCE_TRN2EN);
IS(17, NRT_INSTANCE_TRN3E);
IS(0, NRT_INSTANCE_SIZE_1XL);
IS(1, NRT_INSTANCE_SIZE_2XL);
IS(2, NRT_INSTANCE_SIZE_4XL);
IS(3, NRT_INSTANCE_SIZE_6XL);
IS(4, NRT_INSTANCE_SIZE_8XL);
IS(5, NRT_INSTANCE_SIZE_24XL);
IS(6, NRT_INSTANCE_SIZE_32XL);
IS(7, NRT_INSTANCE_SIZE_48XL);
IS(8, NRT_INSTANCE_SIZE_3XL);
IS(9, NRT_INSTANCE_SIZE_UNKNOWN);
IS(9, NRT_INSTANCE_SIZE_NUM);
IS(0, NRT_OP_ADD);
IS(1, NRT_OP_FMA);
IS(2, NRT_OP_MAX);
IS(3, NRT_OP_MIN);
IS(15, NRT_OP_INVALID);
IS(0, NRT_DTYPE_UNKNOWN);
IS(0, NRT_DTYPE_INVALID);
IS(1, NRT_DTYPE_UINT64);
IS(2, NRT_DTYPE_INT8);
IS(3, NRT_DTYPE_UINT8);
IS(4, NRT_DTYPE_INT16);
IS(5, NRT_DTYPE_UINT16);
IS(6, NRT_DTYPE_BFLOAT16);
IS(7, NRT_DTYPE_FLOAT16);
IS(8, NRT_DTYPE_INT32);
IS(9, NRT_DTYPE_UINT32);
IS(10, NRT_DTYPE_FLOAT32);
IS(11, NRT_DTYPE_FP32R);
IS(12, NRT_DTYPE_INT64);
IS(13, NRT_DTYPE_FP8_E3);
IS(14, NRT_DTYPE_FP8_E4);
IS(15, NRT_DTYPE_FP8_E5);
IS(0, NRT_CC_ALLGATHER);
IS(1, NRT_CC_ALLREDUCE);
IS(2, NRT_CC_REDUCESCATTER);
IS(0, NRT_PINNED_MALLOC);
IS(1, NRT_PINNED_HUGEPAGE_2M);
IS(2, NRT_PINNED_HUGEPAGE_1G);
IS(0, NRT_TENSOR_USAGE_INPUT);
IS(1, NRT_TENSOR_USAGE_OUTPUT);
IS(1, NRT_INSPECT_DEVICE_PROFILE_MODE_SESSION);
IS(0, NDEBUG_STREAM_EVENT_TYPE_INVALID);
IS(1, NDEBUG_STREAM_EVENT_TYPE_DEBUG_TENSOR_READ);

#if NRT_ASYNC_API_VERSION == 228
IS(0, NRTA_XU_TENSOR_READ);
IS(1, NRTA_XU_TENSOR_WRITE);
IS(2, NRTA_XU_TENSOR_OP);
IS(3, NRTA_XU_COMPUTE);
IS(4, NRTA_XU_COLLECTIVES);
IS(5, NRTA_XU_TYPE_NUM);
#else
IS(0, NRTA_XU_TENSOR_OP);
IS(1, NRTA_XU_COMPUTE);
IS(2, NRTA_XU_COLLECTIVES);
IS(3, NRTA_XU_TYPE_NUM);
#endif

// Programs may write the tags instead of the types.
SIZE(4, enum nrt_op_type);
SIZE(4, enum nrt_dtype);
SIZE(4, enum nrt_cc_op_type);
SIZE(4, enum nrt_tensor_usage);
SIZE(4, enum ndebug_stream_event_type);

SIZE(32, nrt_instance_info_t);
AT(0, nrt_instance_info_t, family);
AT(4, nrt_instance_info_t, size);
AT(8, nrt_instance_info_t, arch_name);
AT(24, nrt_instance_info_t, device_revision);
SIZE(8, nrt_tensor_batch_offset_t);
SIZE(8, nrt_tensor_batch_size_t);
SIZE(24, nrt_tensor_batch_op_t);
AT(0, nrt_tensor_batch_op_t, offset);
AT(8, nrt_tensor_batch_op_t, size);
AT(16, nrt_tensor_batch_op_t, buffer);
SIZE(24, nrt_tensor_batch_t);
AT(0, nrt_tensor_batch_t, tensor);
AT(8, nrt_tensor_batch_t, ops);
AT(16, nrt_tensor_batch_t, num_ops);
SIZE(24, nrt_tensor_device_allocation_info_t);
AT(0, nrt_tensor_device_allocation_info_t, physical_address);
AT(8, nrt_tensor_device_allocation_info_t, size);
AT(16, nrt_tensor_device_allocation_info_t, hbm_index);
SIZE(16, nrt_vnc_memory_stats_t);
AT(0, nrt_vnc_memory_stats_t, bytes_used);
AT(8, nrt_vnc_memory_stats_t, bytes_limit);
SIZE(32, nrt_cc_comm_t);
AT(0, nrt_cc_comm_t, replica_group);
AT(8, nrt_cc_comm_t, rank);
AT(12, nrt_cc_comm_t, rank_n);
AT(16, nrt_cc_comm_t, ctx_device_id);
AT(20, nrt_cc_comm_t, ctx_device_count);
AT(24, nrt_cc_comm_t, vnc);
SIZE(16, nrt_tensor_list_t);
AT(0, nrt_tensor_list_t, tensors);
AT(8, nrt_tensor_list_t, num_tensors);
SIZE(4, nrt_cc_param_t);
SIZE(4, nrt_model_info_t);
SIZE(296, nrt_tensor_info_t);
AT(0, nrt_tensor_info_t, name);
AT(256, nrt_tensor_info_t, usage);
AT(264, nrt_tensor_info_t, size);
AT(272, nrt_tensor_info_t, dtype);
AT(280, nrt_tensor_info_t, shape);
AT(288, nrt_tensor_info_t, ndim);
AT(0, nrt_tensor_info_array_t, tensor_count);
AT(8, nrt_tensor_info_array_t, tensor_array);
SIZE(24, struct neuron_ioctl_mem_chunk_info);
AT(0, struct neuron_ioctl_mem_chunk_info, pa);
AT(8, struct neuron_ioctl_mem_chunk_info, size);
AT(16, struct neuron_ioctl_mem_chunk_info, mem_type);

SIZE(8, nrta_seq_t);
SIZE(2, nrta_xu_id_t);
SIZE(16, nrta_error_t);
AT(0, nrta_error_t, seq_id);
AT(8, nrta_error_t, error_code);
static_assert(NRTA_SEQ_NUM_MAX == 0xFFFFFFFFFFFFULL, "48 bits");
static_assert(NRTA_SEQ_NUM_MASK == 0xFFFFFFFFFFFFULL, "48 bits");
static_assert(NRTA_SEQ_GET_SEQ_NUM(0x1234000000000005ULL | 2) == 7,
              "the argument is parenthesized");
static_assert(NRTA_SEQ_GET_XU_ID(0x1234000000000005ULL | 2) == 0x1234,
              "the argument is parenthesized");

IS(128, RT_VERSION_DETAIL_LEN);
IS(64, GIT_HASH_LEN);
SIZE(224, nrt_version_t);
AT(0, nrt_version_t, rt_major);
AT(8, nrt_version_t, rt_minor);
AT(16, nrt_version_t, rt_patch);
AT(24, nrt_version_t, rt_maintenance);
AT(32, nrt_version_t, rt_detail);
AT(160, nrt_version_t, git_hash);
SIZE(64, ndebug_stream_event_header_t);
AT(0, ndebug_stream_event_header_t, data_size);
AT(8, ndebug_stream_event_header_t, type);
AT(12, ndebug_stream_event_header_t, reserved);
SIZE(1024, ndebug_stream_payload_debug_tensor_read_t);
AT(0, ndebug_stream_payload_debug_tensor_read_t, prefix);
AT(512, ndebug_stream_payload_debug_tensor_read_t, logical_nc_id);
AT(516, ndebug_stream_payload_debug_tensor_read_t, pipe);
AT(520, ndebug_stream_payload_debug_tensor_read_t, tensor_dtype);
AT(536, ndebug_stream_payload_debug_tensor_read_t, tensor_shape);
AT(600, ndebug_stream_payload_debug_tensor_read_t, tensor_data_size);
AT(608, ndebug_stream_payload_debug_tensor_read_t, reserved0);
AT(1024, ndebug_stream_payload_debug_tensor_read_t, tensor_data);

// The numbers and layouts that programs which watch devices read.
IS(0, NDS_NC_COUNTER_TIME_IN_USE);
IS(1, NDS_NC_COUNTER_INFER_COMPLETED);
IS(13, NDS_NC_COUNTER_LATENCY_DEVICE);
IS(22, NDS_NC_COUNTER_MEM_USAGE_CODE_DEVICE);
IS(23, NDS_NC_COUNTER_MEM_USAGE_TENSORS_DEVICE);
IS(27, NDS_NC_COUNTER_MODEL_LOAD_COUNT);
IS(31, NDS_NC_COUNTER_COUNT);
IS(31, NDS_EXT_NC_COUNTER_HW_ERR_COLLECTIVES);
IS(95, NDS_TOTAL_NC_COUNTER_COUNT);
IS(31, NDS_ND_COUNTER_COUNT);
IS(15, APP_INFO_ALL);
SIZE(152, struct neuron_app_info);
AT(4, struct neuron_app_info, nc_lock_map);
AT(5, struct neuron_app_info, uuid_data);
AT(136, struct neuron_app_info, host_mem_size);
AT(144, struct neuron_app_info, device_mem_size);
SIZE(40, ndl_version_info_t);
SIZE(12, ndl_device_init_param_t);
AT(4, ndl_device_t, connected_device_count);
AT(72, ndl_device_t, csr_base);
AT(104, ndl_device_t, cpy_bufs);
SIZE(284, nds_model_node_info_t);
