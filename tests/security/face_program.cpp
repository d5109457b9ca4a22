// A program that uses both faces, for tests that start it as an attacker would: with variables, by
// another user, with closed standard streams.
//
//   face_program MODEL REPORT
//
// Makes a runner on a column and its tensors, starts the NRT runtime, and has both faces log an
// error. The report has a line for each standard stream that is closed at the end ("closed 2"), and
// "tensor written" where another writer than the program has written into a tensor. Exit status 1
// where a call did not do what it must.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include "nrt/nrt.h"
#include "vart/vart_runner_factory.hpp"

namespace {

using Tensors = std::vector<std::vector<vart::NpuTensor>>;

bool use_nrt() {
  if (nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "") != NRT_SUCCESS) return false;
  nrt_tensor_t* tensor = nullptr;
  const bool made =
      nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 64, "x", &tensor) == NRT_SUCCESS;
  const bool refused = nrt_unload(nullptr) != NRT_SUCCESS;
  nrt_tensor_free(&tensor);
  nrt_close();
  return made && refused;
}

bool is_zero(const vart::NpuTensor& tensor, size_t bytes) {
  const auto* const data = static_cast<const char*>(tensor.get_virtual_address());
  return std::all_of(data, data + bytes, [](char c) { return c == 0; });
}

// Checks whether the tensors are as the program left them.
bool use_vart(const std::string& model, bool& kept) {
  const auto runner =
      vart::RunnerFactory::create_runner(vart::RunnerType::VAIML, model, {{"start_column", 0u}});
  Tensors inputs(1);
  const auto& infos = runner->get_tensors_info(vart::TensorDirection::INPUT, vart::TensorType::HW);
  for (const vart::NpuTensorInfo& info : infos) {
    inputs[0].push_back(runner->allocate_npu_tensor(info));
    std::memset(inputs[0].back().get_virtual_address(), 0, info.size_in_bytes);
  }
  Tensors none(1);
  const bool refused = runner->execute(inputs, none) != vart::StatusCode::SUCCESS;
  const bool nrt = use_nrt();
  for (size_t i = 0; i < infos.size(); ++i)
    kept = kept && is_zero(inputs[0][i], infos[i].size_in_bytes);
  return refused && nrt;
}

int run(const std::string& model, const std::string& report) {
  bool kept = true;
  const bool done = use_vart(model, kept);
  std::string text = kept ? "" : "tensor written\n";
  for (int number = 0; number <= STDERR_FILENO; ++number)
    if (::fcntl(number, F_GETFD) < 0) text += "closed " + std::to_string(number) + "\n";
  std::ofstream(report) << text;
  return done ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return argc == 3 ? run(argv[1], argv[2]) : 2;
  } catch (const std::exception& error) {
    std::ofstream(argv[2]) << error.what() << "\n";
    return 1;
  }
}
