#include "arguments.hpp"

#include <algorithm>
#include <boost/program_options.hpp>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <vector>

namespace fs = std::filesystem;
namespace po = boost::program_options;

namespace {

po::options_description describe_options() {
  po::options_description options("Options");
  options.add_options()                                                                           //
      ("image,i", po::value<std::string>()->required(), "picture to classify")                    //
      ("model-dir,m", po::value<std::string>()->required(),                                       //
       "compiled model: a .rai file, or a directory with vaiml_par_0 or with a .rai file")        //
      ("non-zero-copy,c", po::bool_switch(), "tensors of the CPU view, converted by the runner")  //
      ("runs,n", po::value<int>()->default_value(1), "frames of the timed loop")                  //
      ("help,h", "print this text");
  return options;
}

std::vector<fs::path> archives_in(const fs::path& directory) {
  std::vector<fs::path> archives;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory))
    if (entry.path().extension() == ".rai") archives.push_back(entry.path());
  std::sort(archives.begin(), archives.end());
  return archives;
}

std::string find_model(const std::string& path) {
  if (!fs::is_directory(path) || fs::is_directory(fs::path(path) / "vaiml_par_0")) return path;
  const std::vector<fs::path> archives = archives_in(path);
  if (archives.empty())
    throw std::runtime_error(path + " holds neither vaiml_par_0 nor a .rai file");
  if (archives.size() > 1)
    std::cerr << "[WARN] " << path << " holds " << archives.size()
              << " .rai files: " << archives.front().filename() << " is used\n";
  return archives.front().string();
}

}  // namespace

std::optional<Arguments> parse_arguments(int argc, char** argv) {
  const po::options_description options = describe_options();
  po::positional_options_description positional;
  positional.add("image", 1).add("model-dir", 1);
  po::variables_map values;
  po::store(po::command_line_parser(argc, argv).options(options).positional(positional).run(),
            values);
  if (values.count("help") != 0) {
    std::cout << "Usage: " << argv[0] << " IMAGE MODEL [options]\n" << options;
    return std::nullopt;
  }
  po::notify(values);
  Arguments arguments;
  arguments.image = values["image"].as<std::string>();
  arguments.model = find_model(values["model-dir"].as<std::string>());
  arguments.zero_copy = !values["non-zero-copy"].as<bool>();
  arguments.runs = values["runs"].as<int>();
  if (arguments.runs < 1)
    throw std::runtime_error("--runs must be at least 1, not " + std::to_string(arguments.runs));
  return arguments;
}
