// The library of the vendor's driver. The software NPU has none: empty, for builds that list the
// file.
#ifndef NDL_NDL_H
#define NDL_NDL_H

#endif  // NDL_NDL_H
