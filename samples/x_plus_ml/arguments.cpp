#include "arguments.hpp"

#include <boost/program_options.hpp>
#include <cstdint>
#include <iostream>
#include <sstream>
#include <stdexcept>

namespace po = boost::program_options;

namespace {

po::options_description describe_options() {
  po::options_description options("Options");
  options.add_options()                                                                         //
      ("app-config", po::value<std::string>()->required(), "JSON file: the models (required)")  //
      ("input-file", po::value<std::string>()->required(),
       "picture, folder of pictures, or .nv12, .bgr or .y4m file (required)")                  //
      ("dim", po::value<std::string>(), "WxH: size of the pictures of .nv12 and .bgr files")   //
      ("runs", po::value<int64_t>()->default_value(1), "times the input is read, 1 to 10000")  //
      ("frames", po::value<int64_t>(), "frames of each run at most (all)")                     //
      ("benchmark", po::bool_switch(),
       "measure every stage alone, too; print and write no results")  //
      ("log-level", po::value<int64_t>()->default_value(2),
       "1 errors, 2 and warnings, 3 and information, 4 to 6 everything")  //
      ("help,h", "print this text");
  return options;
}

int64_t number_in(const po::variables_map& values, const char* name, int64_t highest) {
  const int64_t number = values[name].as<int64_t>();
  if (number < 1 || number > highest)
    throw std::runtime_error(std::string("--") + name + " takes 1 to " + std::to_string(highest) +
                             ", not " + std::to_string(number));
  return number;
}

PictureSize read_size(const std::string& text) {
  constexpr int kLargest = 65535;  // what a region of preprocessing can address
  PictureSize size;
  char times = 0;
  std::istringstream in(text);
  in >> size.width >> times >> size.height;
  const bool is_read = !in.fail() && in.peek() == std::istringstream::traits_type::eof();
  const auto is_side = [](int side) { return side >= 1 && side <= kLargest; };
  if (!is_read || times != 'x' || !is_side(size.width) || !is_side(size.height))
    throw std::runtime_error("--dim takes WIDTHxHEIGHT, each from 1 to " +
                             std::to_string(kLargest) + ", not " + text);
  return size;
}

std::string log_level_name(int64_t level) {
  constexpr const char* kNames[] = {"ERROR", "WARNING", "INFO"};
  return level <= 3 ? kNames[level - 1] : "DEBUG";
}

}  // namespace

std::optional<Arguments> parse_arguments(int argc, char** argv) {
  constexpr int64_t kMostRuns = 10000, kMostFrames = 1'000'000'000, kMostVerbose = 6;
  const po::options_description options = describe_options();
  po::variables_map values;
  const po::positional_options_description no_positionals;
  po::store(po::command_line_parser(argc, argv).options(options).positional(no_positionals).run(),
            values);
  if (values.count("help") != 0) {
    std::cout << "Usage: " << argv[0] << " --app-config FILE --input-file PATH [options]\n"
              << options;
    return std::nullopt;
  }
  po::notify(values);
  Arguments arguments;
  arguments.app_config = values["app-config"].as<std::string>();
  arguments.input = values["input-file"].as<std::string>();
  if (values.count("dim") != 0) arguments.size = read_size(values["dim"].as<std::string>());
  arguments.runs = static_cast<int>(number_in(values, "runs", kMostRuns));
  if (values.count("frames") != 0)
    arguments.frames = static_cast<std::size_t>(number_in(values, "frames", kMostFrames));
  arguments.benchmark = values["benchmark"].as<bool>();
  arguments.log_level = log_level_name(number_in(values, "log-level", kMostVerbose));
  return arguments;
}
