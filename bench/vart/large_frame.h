// Measures what zero-copy saves where frames are large and the network costs little: of a 4K
// picture it takes a region of 224x224, for 8x8 maximum pooling, as networks do that watch a gauge
// or a door.
//
//   zero-copy   the frame's own memory, by its descriptor, in the HW view
//   copied      the frame is copied into a tensor of the runner, in the HW view
//   converted   the frame is FLOAT32, in the CPU view, and the runner converts it
//
// They alternate frame by frame; the output is in the HW view. There are two networks. One declares
// the picture in UINT8, with channels innermost, and reads nothing but the region. The other is
// quantised to INT8, and brings the whole frame from the HW view to C order, out of which it cuts
// the region. The first has one view of its input, so that nothing is converted.
#pragma once

namespace millrace::bench {

void report_large_frame();

}  // namespace millrace::bench
