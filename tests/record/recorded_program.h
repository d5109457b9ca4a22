// The fixture of tests of records: it is a program that is recorded, and runs `millrace replay`.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <millrace/millrace.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/subprocess.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tiny_model.h"

namespace millrace::test {

// This process is the program. It can be recorded once.
class RecordedProgram : public ::testing::Test {
 protected:
  static constexpr size_t kJobs = 4;  // of each model

  RecordedProgram() { ::setenv("MILLRACE_RECORD", folder().c_str(), 1); }
  ~RecordedProgram() override {
    ::unsetenv("MILLRACE_RECORD");
    ::unsetenv("MILLRACE_RECORD_INPUTS");
  }

  std::string folder() const { return directory_.file("record"); }
  std::string lines_file() const { return folder() + "/record.jsonl"; }
  std::string lines() const {
    std::ostringstream text;
    text << std::ifstream(lines_file()).rdbuf();
    return text.str();
  }
  void write_lines(const std::string& text) const { std::ofstream(lines_file()) << text; }

  // Runs jobs of two models in both views, several at a time, each with inputs of its own.
  void run_jobs() const {
    const std::string one = directory_.file("one.rai"), two = directory_.file("two.rai");
    ASSERT_TRUE(write_tiny_model(one).ok());
    ASSERT_TRUE(write_tiny_model(two, {.batch_size = 2, .cpu_partition = true}).ok());
    Device device = *Device::open();
    const Model models[] = {*device.load(one), *device.load(two)};
    Unit units[] = {*device.create_unit({.depth = kJobs}), *device.create_unit({.depth = kJobs})};
    std::vector<std::vector<float>> memory;
    std::vector<Job> jobs;
    for (size_t i = 0; i < 2 * kJobs; ++i) submit(units[i % 2], models[i % 2], i, memory, jobs);
    for (Job& job : jobs) EXPECT_TRUE(job.wait().ok());
  }

  ProgramResult replay(std::vector<std::string> options = {}) const {
    std::vector<std::string> command = {"/usr/bin/env",   "-u",     "MILLRACE_RECORD",
                                        MILLRACE_PROGRAM, "replay", folder()};
    command.insert(command.end(), options.begin(), options.end());
    return run_program(command, directory_.path());
  }

  const TemporaryDirectory directory_;

 private:
  static void submit(Unit& unit, const Model& model, size_t number,
                     std::vector<std::vector<float>>& memory, std::vector<Job>& jobs) {
    const View view = number < kJobs ? View::kCpu : View::kHw;
    const auto tensors_of = [&](std::span<const TensorInfo> infos, int seed) {
      std::vector<TensorArg> tensors;
      for (uint32_t frame = 0; frame < model.batch_size(); ++frame)
        for (const TensorInfo& info : infos) {
          const size_t bytes = view == View::kHw ? info.hw->bytes : info.cpu.bytes;
          memory.push_back(tiny_numbers(bytes / sizeof(float), seed + static_cast<int>(frame)));
          tensors.emplace_back(std::span(memory.back()), view);
        }
      return tensors;
    };
    const std::vector<TensorArg> inputs = tensors_of(model.inputs(), static_cast<int>(10 * number));
    const std::vector<TensorArg> outputs = tensors_of(model.outputs(), 1);
    Result<Job> job =
        unit.submit(model, {.inputs = inputs, .outputs = outputs, .frames = model.batch_size()});
    ASSERT_TRUE(job.ok()) << job.status().to_string();
    jobs.push_back(*std::move(job));
  }
};

}  // namespace millrace::test
