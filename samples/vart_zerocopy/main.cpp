// vart_zerocopy: classifies a picture without copying a byte between preprocessing, inference and
// postprocessing. With --non-zero-copy the runner converts the model's own view instead, for
// comparison.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>
#include <stdexcept>

#include "arguments.hpp"
#include "board.hpp"
#include "common/output_file.hpp"
#include "pipeline.hpp"
#include "stopwatch.hpp"
#include "vart_x_common/result_text.hpp"

namespace {

void banner(const std::string& title) {
  static int stage = 0;
  std::cout << "==== " << ++stage << ". " << title << " ====\n";
}

void check_board(const Board& board) {
  // A negative index stands for a device without a bitstream.
  if (board.device_index >= 0 && !std::filesystem::exists(board.xclbin))
    throw std::runtime_error("there is no " + board.xclbin +
                             "; ZEROCOPY_XCLBIN names another (its content does not matter)");
}

void print_results(const Pipeline::Results& results) {
  for (const auto& frame : results)
    for (const std::shared_ptr<vart::InferResult>& result : frame)
      samples::print_result(std::cout, *result);
}

void run_frame(Pipeline& pipeline, StageTimes& times, Pipeline::Results& results) {
  timed(times.preprocess, [&] { pipeline.preprocess(); });
  timed(times.infer, [&] { pipeline.infer(); });
  timed(times.postprocess, [&] { results = pipeline.postprocess(); });
}

StageTimes benchmark(Pipeline& pipeline, int runs) {
  StageTimes ignored, times;
  Pipeline::Results results;
  run_frame(pipeline, ignored, results);  // warms up caches and contexts
  const std::optional<std::size_t> before = pipeline.converted_bytes();
  for (int i = 0; i < runs; ++i) run_frame(pipeline, times, results);
  if (before)
    std::cout << "IFM and OFM bytes copied per frame: "
              << (*pipeline.converted_bytes() - *before) / static_cast<std::size_t>(runs) << "\n";
  return times;
}

void print_times(const StageTimes& sum, int runs) {
  const auto milliseconds = [&](const char* stage, double all) {
    std::printf("%-22s : %10.3f ms / frame\n", stage, all / runs);
  };
  const auto throughput = [&](const char* what, double all) {
    std::printf("%-22s : %10.3f FPS\n", what, runs * 1000.0 / all);
  };
  std::cout << std::flush;
  milliseconds("preprocess", sum.preprocess);
  milliseconds("infer", sum.infer);
  milliseconds("postprocess", sum.postprocess);
  milliseconds("total", sum.total());
  throughput("throughput (infer)", sum.infer);
  throughput("throughput (pipeline)", sum.total());
  std::fflush(stdout);
}

void run(const Arguments& arguments) {
  const Board board = board_of_environment();
  check_board(board);
  banner("Device and model");
  Pipeline pipeline(arguments.model, arguments.zero_copy, board);
  pipeline.input().print();
  pipeline.output().print();
  banner("Picture and buffers");
  pipeline.set_picture(arguments.image);
  banner("Preprocess");
  pipeline.preprocess();
  banner("Infer");
  pipeline.infer();
  banner("Postprocess");
  print_results(pipeline.postprocess());
  banner("Benchmark");
  std::cout << "mode: " << (arguments.zero_copy ? "zero-copy" : "non-zero-copy")
            << ", runs: " << arguments.runs << "\n";
  print_times(benchmark(pipeline, arguments.runs), arguments.runs);
  std::cout << "Finished successfully.\n";
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (const std::optional<Arguments> arguments = parse_arguments(argc, argv)) run(*arguments);
    samples::finish_standard_output();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "Error: " << error.what() << "\n";
    return 1;
  }
}
