#include "inference.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <limits>
#include <memory>

#include "common/batch.hpp"
#include "common/binary_file.hpp"
#include "common/table.hpp"
#include "common/text.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using samples::Batch;
using TensorInfos = std::vector<vart::NpuTensorInfo>;

class Inference {
 public:
  Inference(const Config& config, const Arguments& arguments)
      : config_(config), arguments_(arguments) {
    runner_ = vart::RunnerFactory::create_runner(vart::RunnerType::VAIML, config.model_file,
                                                 config.runner.values);
    if (runner_ == nullptr) throw std::runtime_error("no runner was created");
    input_infos_ = &tensors(vart::TensorDirection::INPUT, config.runner.input_type);
    output_infos_ = &tensors(vart::TensorDirection::OUTPUT, config.runner.output_type);
    allocate();
    if (arguments.dry_run)
      samples::fill_with_random(inputs_);
    else
      read_inputs();
    if (writes_files()) std::filesystem::create_directories(config.ofms_dir);
  }

  void run_all() {
    for (int run = 0; run < arguments_.runs; ++run) run_frames(run);
    if (arguments_.benchmark)
      std::cout << "Average inference time over " << arguments_.runs
                << " runs: " << samples::fixed(milliseconds_ / arguments_.runs, 2) << " ms\n";
  }

 private:
  const TensorInfos& tensors(vart::TensorDirection direction, vart::TensorType type) const {
    const TensorInfos& infos = runner_->get_tensors_info(direction, type);
    if (infos.empty())
      throw std::runtime_error("the model has no tensors of type " +
                               std::string(vart::to_string(type)) + " on the " +
                               std::string(vart::to_string(direction)) + " side");
    return infos;
  }

  bool writes_files() const { return !arguments_.dry_run && !arguments_.benchmark; }

  void allocate() {
    try {
      inputs_ = samples::allocate_batch(*runner_, *input_infos_);
      outputs_ = samples::allocate_batch(*runner_, *output_infos_);
    } catch (const std::exception& error) {
      throw AllocationFailure(error.what());
    }
    frames_ = arguments_.frames.value_or(inputs_.size());
  }

  void read_inputs() {
    std::size_t held = std::numeric_limits<std::size_t>::max();
    for (const vart::NpuTensorInfo& info : *input_infos_) {
      const auto file = config_.ifm_files.find(info.name);
      if (file == config_.ifm_files.end())
        throw std::runtime_error("\"ifms-config\" names no file for the tensor " + info.name);
      ifms_.push_back(samples::read_rows(file->second, info));
      held = std::min(held, ifms_.back().size() / info.size_in_bytes);
    }
    frames_ = std::min(arguments_.frames.value_or(held), held);
    if (arguments_.frames && held < *arguments_.frames && arguments_.log_level >= 2)
      std::cerr << "[WARN] the input files hold " << held << " of " << *arguments_.frames
                << " frames\n";
  }

  void run_frames(int run) {
    for (std::size_t first = 0; first < frames_; first += inputs_.size()) {
      const std::size_t rows = std::min(inputs_.size(), frames_ - first);
      for (std::size_t i = 0; i < ifms_.size(); ++i)
        samples::copy_rows(ifms_[i], first, rows, i, inputs_);
      execute();
      if (writes_files()) write_outputs(run, first, rows);
    }
    for (const auto& file : files_) file->commit();
    files_.clear();
  }

  // The last batch, too, is passed as a whole: what its further frames give is not looked at.
  void execute() {
    const Clock::time_point start = Clock::now();
    const vart::StatusCode status = runner_->execute(inputs_, outputs_);
    milliseconds_ += std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    if (status != vart::StatusCode::SUCCESS)
      throw std::runtime_error("execute failed: " + std::string(vart::to_string(status)));
  }

  std::string output_path(int run, std::size_t tensor) const {
    const vart::NpuTensorInfo& info = (*output_infos_)[tensor];
    const std::string prefix = arguments_.runs > 1 ? "iter" + std::to_string(run) + "_" : "";
    const std::string name = prefix + "infer_out" + std::to_string(tensor) + "-" +
                             samples::dtype_name(info.data_type, samples::FloatNames::kMixed) +
                             "_" + samples::shape_text(info.shape) + "_" +
                             samples::file_name_part(info.name) + ".bin";
    return (std::filesystem::path(config_.ofms_dir) / name).string();
  }

  void write_outputs(int run, std::size_t first, std::size_t rows) {
    for (std::size_t tensor = 0; tensor < output_infos_->size(); ++tensor) {
      const std::string path = output_path(run, tensor);
      if (first == 0) files_.push_back(std::make_unique<samples::OutputFile>(path));
      samples::write_rows(*files_[tensor], outputs_, tensor, rows);
      std::cout << "Wrote tensor " << tensor << " data for frames " << first << "-"
                << first + rows - 1 << " to file: \"" << path << "\"\n";
    }
  }

  const Config& config_;
  const Arguments& arguments_;
  Batch inputs_, outputs_;
  std::shared_ptr<vart::Runner> runner_;
  const TensorInfos* input_infos_ = nullptr;
  const TensorInfos* output_infos_ = nullptr;
  std::vector<std::vector<char>> ifms_;                      // by input; empty in a dry run
  std::vector<std::unique_ptr<samples::OutputFile>> files_;  // of this run, by output
  std::size_t frames_ = 0;
  double milliseconds_ = 0;  // inside execute, over all runs
};

}  // namespace

void run_inference(const Config& config, const Arguments& arguments) {
  Inference(config, arguments).run_all();
  std::cout << "Run completed successfully.\n";
}
