// Measures the VART-ML face: its overhead over the native API, what zero-copy saves with large
// frames, and the gain of two jobs in flight.
//
//   vart_bench [MODEL.onnx]     models/glyphs/glyphs.onnx by default
//
// The script async_over_sync.sh measures the sample vart_infer_async on one core and on all.
#include <fmt/format.h>

#include <exception>

#include "bench/vart/host_stage.h"
#include "bench/vart/large_frame.h"
#include "bench/vart/loaded_model.h"
#include "bench/vart/zero_copy.h"
#include "source_dir.h"

int main(int argc, char** argv) {
  try {
    const millrace::bench::CompiledArchive archive(
        argc > 1 ? argv[1] : MILLRACE_SOURCE_DIR "/models/glyphs/glyphs.onnx");
    millrace::bench::report_zero_copy(archive.path());
    millrace::bench::report_large_frame();
    millrace::bench::report_host_stage(archive.path());
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "vart_bench: {}\n", error.what());
    return 1;
  }
}
