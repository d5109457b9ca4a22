// x_plus_ml: pictures and video through one or several models, with preprocessing, inference and
// postprocessing at work on different frames at the same time.
#include <exception>
#include <iostream>
#include <opencv2/core/utility.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "arguments.hpp"
#include "common/output_file.hpp"
#include "config.hpp"
#include "output.hpp"
#include "pipeline.hpp"
#include "report.hpp"
#include "sources/input.hpp"

namespace {

constexpr int kSomeFailed = 2;

void require_frames(const RunReport& report, const Arguments& arguments) {
  if (report.frames == 0) throw std::runtime_error(arguments.input + " has no frames");
}

int process(const Arguments& arguments, Input& input, Pipeline& pipeline) {
  Output output(pipeline.models());
  const RunReport report = pipeline.run(input, [&](Frame& frame) { output.write(frame); });
  require_frames(report, arguments);
  output.commit();
  print_performance(report, std::nullopt);
  std::cout << "frames: " << report.frames << ", failed: " << report.failed << "\n";
  return report.failed == 0 ? 0 : kSomeFailed;
}

// Stages that are measured alone need the results of those before.
void require_whole_frames(const RunReport& report) {
  if (report.failed != 0)
    throw std::runtime_error("--benchmark takes an input without broken frames");
}

// Uses every frame of the pipeline once.
void warm_up(Arguments arguments, Pipeline& pipeline) {
  arguments.runs = static_cast<int>(pipeline.size());
  Input input(arguments, pipeline.size());
  const RunReport report = pipeline.run(input, [](Frame&) {});
  require_frames(report, arguments);
  require_whole_frames(report);
}

int benchmark(const Arguments& arguments, Input& input, Pipeline& pipeline) {
  warm_up(arguments, pipeline);
  const RunReport report = pipeline.run(input, [](Frame&) {});
  require_whole_frames(report);
  AloneTimes alone{};
  for (const Stage stage : {kRead, kPreprocess, kInference, kPostprocess}) {
    Input again(arguments);
    alone[stage] = pipeline.run_alone(stage, report.frames, again);
  }
  print_performance(report, alone);
  return 0;
}

int run(const Arguments& arguments) {
  cv::setNumThreads(
      1);  // the stages are at work at the same time; OpenCV needs no threads of its own
  const AppConfig config = read_app_config(arguments.app_config, arguments.log_level);
  Input input(arguments);
  Pipeline pipeline(config);
  return arguments.benchmark ? benchmark(arguments, input, pipeline)
                             : process(arguments, input, pipeline);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    int status = 0;
    if (const std::optional<Arguments> arguments = parse_arguments(argc, argv))
      status = run(*arguments);
    samples::finish_standard_output();
    return status;
  } catch (const std::exception& error) {
    std::cerr << "Error: " << error.what() << "\n";
    return 1;
  }
}
