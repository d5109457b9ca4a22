// The interface that the vendor's driver and its runtime share. The software NPU has only the
// transfers of a batch from it.
#ifndef NDL_NEURON_DRIVER_SHARED_H
#define NDL_NEURON_DRIVER_SHARED_H

#include "ndl/neuron_driver_shared_tensor_batch_op.h"

#endif  // NDL_NEURON_DRIVER_SHARED_H
