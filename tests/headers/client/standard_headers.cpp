// Names of the standard library that programs use with nothing but headers of VART included; see
// vart_standard_headers.hpp. One translation unit cannot tell which header brought them, so the
// macro says which of the two kinds of program this is.
#ifdef ONLY_VART_X
#include <vart/vart_memory.hpp>
#else
#include <vart/vart_runner_factory.hpp>
#endif

std::vector<char> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) std::cerr << "cannot read " << path << std::endl;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void close_all(const std::map<int, std::shared_ptr<int>>& files) {
  for (const auto& entry : files) close(*entry.second);
}

std::unordered_map<std::string, std::any> options(const std::function<bool()>& debug) {
  return {{"debug", debug()}, {"wait", std::chrono::milliseconds(5)}};
}
