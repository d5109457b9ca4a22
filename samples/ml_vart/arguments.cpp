#include "arguments.hpp"

#include <getopt.h>

#include <charconv>
#include <cstring>
#include <iostream>

namespace {

constexpr int kMostRuns = 1'000'000;
constexpr int kMostFrames = 1'000'000'000;
constexpr int kMostVerbose = 6;

constexpr const char* kUsage =
    " --app-config FILE [options]\n"
    "  --app-config FILE      JSON: model, runner options, input files, output folder\n"
    "  --runs N               times everything is run (1)\n"
    "  --frames N             frames to run at most (all that the input files hold)\n"
    "  --benchmark            print the average time; write no files\n"
    "  --dry-run              random input; read and write no tensor files\n"
    "  --log-level N          1 errors, 2 and warnings, 3 and information, up to 6 (2)\n"
    "  --get-model-info PATH  describe a model and write <name>_info.json\n"
    "  --help                 print this text\n";

enum Option : int { kAppConfig = 1, kRuns, kFrames, kBenchmark, kDryRun, kLogLevel, kInfo, kHelp };

constexpr option kOptions[] = {{"app-config", required_argument, nullptr, kAppConfig},
                               {"runs", required_argument, nullptr, kRuns},
                               {"frames", required_argument, nullptr, kFrames},
                               {"benchmark", no_argument, nullptr, kBenchmark},
                               {"dry-run", no_argument, nullptr, kDryRun},
                               {"log-level", required_argument, nullptr, kLogLevel},
                               {"get-model-info", required_argument, nullptr, kInfo},
                               {"help", no_argument, nullptr, kHelp},
                               {nullptr, 0, nullptr, 0}};

std::optional<int> number_in(const char* name, const char* text, int highest) {
  int number = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, number);
  if (error == std::errc() && stop == end && number >= 1 && number <= highest) return number;
  std::cerr << "--" << name << " takes a number from 1 to " << highest << ", not " << text << "\n";
  return std::nullopt;
}

// False when the option is unknown, has a bad value, or is --help.
bool take(int option, Arguments& arguments) {
  std::optional<int> number;
  switch (option) {
    case kAppConfig:
      arguments.app_config = optarg;
      return true;
    case kInfo:
      arguments.model_info = optarg;
      return true;
    case kBenchmark:
      return arguments.benchmark = true;
    case kDryRun:
      return arguments.dry_run = true;
    case kRuns:
      if ((number = number_in("runs", optarg, kMostRuns))) arguments.runs = *number;
      return number.has_value();
    case kFrames:
      if ((number = number_in("frames", optarg, kMostFrames))) arguments.frames = *number;
      return number.has_value();
    case kLogLevel:
      if ((number = number_in("log-level", optarg, kMostVerbose))) arguments.log_level = *number;
      return number.has_value();
    default:  // --help, or what getopt_long has already complained about
      return false;
  }
}

std::optional<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  for (int option; (option = getopt_long(argc, argv, "", kOptions, nullptr)) != -1;)
    if (!take(option, arguments)) return std::nullopt;
  if (optind < argc) {
    std::cerr << "unexpected argument " << argv[optind] << "\n";
    return std::nullopt;
  }
  if (arguments.app_config.empty() && arguments.model_info.empty()) {
    std::cerr << "--app-config or --get-model-info is required\n";
    return std::nullopt;
  }
  return arguments;
}

}  // namespace

std::optional<Arguments> parse_arguments(int argc, char** argv) {
  std::optional<Arguments> arguments = parse(argc, argv);
  if (!arguments) std::cerr << "Usage: " << argv[0] << kUsage;
  return arguments;
}
