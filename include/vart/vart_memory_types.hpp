// VART-X: what kinds of memory there are, and what a mapping is for.
//
// Sources: the published VART-X documentation and sample programs, release 6.2 and the one after
// it. Defines no macro and no name outside namespace vart. C++17 and later.
#ifndef VART_VART_MEMORY_TYPES_HPP
#define VART_VART_MEMORY_TYPES_HPP

namespace vart {

// The accesses that the host will make to mapped bytes.
enum class DataMapFlags { NONE = 0, READ = 1, WRITE = 2 };

//   XRT      memory of the device, shareable as a file descriptor
//   NON_CMA  ordinary host memory
enum class MemoryImplType { XRT, NON_CMA };

}  // namespace vart

#endif  // VART_VART_MEMORY_TYPES_HPP
