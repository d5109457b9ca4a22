// Measures what zero-copy saves where frames are large and the network costs little: of a 4K
// picture of INT8 it takes a region of 224x224, for 8x8 maximum pooling, as networks do that watch
// a gauge or a door.
//
//   zero-copy   the frame's own memory, by its descriptor, in the HW view
//   copied      the frame is copied into a tensor of the runner, in the HW view
//   converted   the frame is FLOAT32, in the CPU view, and the runner converts it
//
// The three alternate in short turns. The output is in the HW view.
#pragma once

namespace millrace::bench {

void report_large_frame();

}  // namespace millrace::bench
