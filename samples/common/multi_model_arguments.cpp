#include "common/multi_model_arguments.hpp"

#include <boost/program_options.hpp>
#include <iostream>
#include <stdexcept>

namespace po = boost::program_options;

namespace samples {
namespace {

constexpr int kWarnings = 1;
constexpr int kInformation = 2;

po::options_description describe_options() {
  po::options_description options("Options");
  options.add_options()                                                                   //
      ("config,c", po::value<std::string>(), "JSON array of models (required)")           //
      ("runs,r", po::value<int>()->default_value(1), "times every model is executed")     //
      ("benchmark,b", po::bool_switch(), "print a table of times")                        //
      ("dry-run,d", po::bool_switch(), "random input; reads and writes no tensor files")  //
      ("log-level,l", po::value<int>()->default_value(kInformation),                      //
       "0 errors, 1 and warnings, 2 and information")                                     //
      ("help,h", po::bool_switch(), "print this text");
  return options;
}

int number_in(const po::variables_map& values, const char* name, int lowest, int highest) {
  const int number = values[name].as<int>();
  if (number < lowest || number > highest)
    throw std::runtime_error(std::string("--") + name + " takes " + std::to_string(lowest) +
                             " to " + std::to_string(highest) + ", not " + std::to_string(number));
  return number;
}

}  // namespace

std::optional<MultiModelArguments> parse_multi_model_arguments(int argc, char** argv) {
  constexpr int kMostRuns = 1'000'000;
  const po::options_description options = describe_options();
  po::variables_map values;
  const po::positional_options_description no_positionals;
  po::store(po::command_line_parser(argc, argv).options(options).positional(no_positionals).run(),
            values);
  po::notify(values);
  if (values["help"].as<bool>()) {
    std::cout << "Usage: " << argv[0] << " --config FILE [options]\n" << options;
    return std::nullopt;
  }
  if (values.count("config") == 0) throw std::runtime_error("--config is required");
  MultiModelArguments arguments;
  arguments.config = values["config"].as<std::string>();
  arguments.runs = number_in(values, "runs", 1, kMostRuns);
  arguments.benchmark = values["benchmark"].as<bool>();
  arguments.dry_run = values["dry-run"].as<bool>();
  arguments.log_level = number_in(values, "log-level", 0, kInformation);
  return arguments;
}

void log_info(const MultiModelArguments& arguments, const std::string& message) {
  if (arguments.log_level >= kInformation) std::cout << "[INFO] " + message + "\n";
}

void log_warning(const MultiModelArguments& arguments, const std::string& message) {
  if (arguments.log_level >= kWarnings) std::cerr << "[WARN] " + message + "\n";
}

}  // namespace samples
