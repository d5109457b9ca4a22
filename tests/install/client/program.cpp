// A client of the installed VART-ML API: loads a model, describes its tensors, runs it once, and
// prints which files of the installation the process has loaded.
#include <vart/vart_device.hpp>
#include <vart/vart_memory_types.hpp>

#include <fstream>
#include <iostream>

#include "vart/vart_runner_factory.hpp"

namespace {

std::vector<std::vector<vart::NpuTensor>> allocate(const vart::Runner& runner,
                                                   vart::TensorDirection direction) {
  std::vector<std::vector<vart::NpuTensor>> tensors(1);
  for (const auto& info : runner.get_tensors_info(direction, vart::TensorType::HW)) {
    std::cout << vart::to_string(direction) << " " << info.name << " " << info.size_in_bytes
              << " bytes, " << vart::to_string(info.memory_layout) << "\n";
    tensors[0].push_back(runner.allocate_npu_tensor(info));
  }
  return tensors;
}

void print_loaded_files() {
  std::ifstream maps("/proc/self/maps");
  std::string last;
  for (std::string line; std::getline(maps, line);) {
    const size_t path = line.find('/');
    if (path == std::string::npos || line.substr(path) == last) continue;
    last = line.substr(path);
    if (last.find("libmillrace") != std::string::npos || last.find("vart") != std::string::npos)
      std::cout << "loaded " << last << "\n";
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) return 2;
  const auto runner = vart::RunnerFactory::create_runner(vart::RunnerType::VAIML, argv[1]);
  const auto inputs = allocate(*runner, vart::TensorDirection::INPUT);
  auto outputs = allocate(*runner, vart::TensorDirection::OUTPUT);
  const vart::JobHandle job = runner->execute_async(inputs, outputs);
  std::cout << vart::to_string(runner->wait(job, std::chrono::minutes(1))) << "\n";
  print_loaded_files();
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
