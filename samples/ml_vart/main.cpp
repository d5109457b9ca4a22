// ml_vart: runs a model on raw input files as a JSON configuration says, synchronously, batch by
// batch. Exit codes: 0 success, 1 a failure in the run, -1 (seen as 255) a command line that makes
// no sense, --help, or tensors that could not be allocated.
#include <exception>
#include <iostream>
#include <optional>

#include "arguments.hpp"
#include "common/output_file.hpp"
#include "config.hpp"
#include "inference.hpp"
#include "model_info.hpp"

namespace {

constexpr int kFailure = 1;
constexpr int kUnusable = -1;

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Arguments> arguments = parse_arguments(argc, argv);
  if (!arguments) return kUnusable;
  try {
    if (!arguments->model_info.empty())
      show_model_info(arguments->model_info);
    else
      run_inference(read_config(arguments->app_config), *arguments);
    samples::finish_standard_output();
    return 0;
  } catch (const AllocationFailure& error) {
    std::cerr << "Error: " << error.what() << "\n";
    return kUnusable;
  } catch (const std::exception& error) {
    std::cerr << "Error: " << error.what() << "\n";
    return kFailure;
  }
}
