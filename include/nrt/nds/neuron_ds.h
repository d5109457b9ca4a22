// The data store of the vendor's driver. The software NPU has none: empty, for builds that list the
// file.
#ifndef NRT_NDS_NEURON_DS_H
#define NRT_NDS_NEURON_DS_H

#endif  // NRT_NDS_NEURON_DS_H
