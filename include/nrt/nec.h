// The side of the collectives plugin. The software NPU has no such plugin: empty, for builds that
// list the file.
#ifndef NRT_NEC_H
#define NRT_NEC_H

#endif  // NRT_NEC_H
