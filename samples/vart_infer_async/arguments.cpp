#include "arguments.hpp"

#include <algorithm>
#include <boost/program_options.hpp>
#include <cctype>
#include <filesystem>
#include <iostream>
#include <stdexcept>

namespace po = boost::program_options;

namespace {

// Two iterations keep two jobs in flight, which is what this program is about.
constexpr int kFewestIterations = 2;

po::options_description describe_options() {
  po::options_description options("Options");
  options.add_options()                                                                          //
      ("model-path", po::value<std::string>(), "compiled model: a .rai file or a directory")     //
      ("input-binary", po::value<std::string>(), "raw input: rows of the input tensor's bytes")  //
      ("input_binary", po::value<std::string>(), "the same")                                     //
      ("num-iteration,n", po::value<int>()->default_value(10), "batches to run, at least 2")     //
      ("dry-run,d", po::bool_switch(), "random input; reads and writes no tensor files")         //
      ("benchmark", po::bool_switch(), "time an asynchronous and a synchronous pass")            //
      ("input-tensor-type", po::value<std::string>()->default_value("HW"), "HW or CPU")          //
      ("output-tensor-type", po::value<std::string>()->default_value("HW"), "HW or CPU")         //
      ("help,h", po::bool_switch(), "print this text");
  return options;
}

po::variables_map parse(const po::options_description& options, int argc, char** argv) {
  po::positional_options_description positional;
  positional.add("model-path", 1).add("input-binary", 1);
  po::variables_map values;
  po::store(po::command_line_parser(argc, argv).options(options).positional(positional).run(),
            values);
  po::notify(values);
  return values;
}

std::string text_of(const po::variables_map& values, const char* name) {
  return values.count(name) != 0 ? values[name].as<std::string>() : std::string();
}

std::string tensor_type_of(const po::variables_map& values, const char* name) {
  std::string text = text_of(values, name);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (text == "HW" || text == "CPU") return text;
  throw std::runtime_error(std::string("--") + name + " takes HW or CPU, not " + text);
}

int iterations_of(const po::variables_map& values) {
  const int iterations = values["num-iteration"].as<int>();
  if (iterations < 1)
    throw std::runtime_error("--num-iteration must be at least 1, not " +
                             std::to_string(iterations));
  if (iterations >= kFewestIterations) return iterations;
  std::cerr << "[WARN] --num-iteration " << iterations << " is raised to " << kFewestIterations
            << ": two jobs are kept in flight\n";
  return kFewestIterations;
}

void check_paths(const Arguments& arguments) {
  if (arguments.model_path.empty()) throw std::runtime_error("--model-path is required");
  if (!std::filesystem::exists(arguments.model_path))
    throw std::runtime_error("model path does not exist: " + arguments.model_path);
  if (!arguments.dry_run && arguments.input_binary.empty())
    throw std::runtime_error("--input-binary is required unless --dry-run is given");
}

}  // namespace

std::optional<Arguments> parse_arguments(int argc, char** argv) {
  const po::options_description options = describe_options();
  const po::variables_map values = parse(options, argc, argv);
  if (values["help"].as<bool>()) {
    std::cout << "Usage: " << argv[0] << " MODEL [INPUT_BINARY] [options]\n" << options;
    return std::nullopt;
  }
  Arguments arguments;
  arguments.model_path = text_of(values, "model-path");
  arguments.input_binary = text_of(values, "input-binary");
  if (arguments.input_binary.empty()) arguments.input_binary = text_of(values, "input_binary");
  arguments.dry_run = values["dry-run"].as<bool>();
  arguments.benchmark = values["benchmark"].as<bool>();
  arguments.input_tensor_type = tensor_type_of(values, "input-tensor-type");
  arguments.output_tensor_type = tensor_type_of(values, "output-tensor-type");
  check_paths(arguments);
  arguments.iterations = iterations_of(values);
  return arguments;
}
