// Pipeline: preprocess, infer, postprocess, one frame at a time, on buffers that are bound once.
//
//   picture (BGR frame) --preprocess--> input frame ==fd== IFM --infer--> OFM ==fd== memory
//                                                                             --postprocess-->
//                                                                             results
//
// "==fd==" is one piece of memory under two names: the second is made from a file descriptor of the
// first, so that nothing is copied between the stages.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "board.hpp"
#include "vart/vart_device.hpp"
#include "vart/vart_inferresult.hpp"
#include "vart/vart_memory.hpp"
#include "vart/vart_postprocess.hpp"
#include "vart/vart_preprocess.hpp"
#include "vart/vart_runner_factory.hpp"
#include "vart/vart_videoframe.hpp"
#include "vart_x_common/tensor_formats.hpp"

// All functions throw exceptions derived from std::exception.
class Pipeline {
 public:
  using Results = std::vector<std::vector<std::shared_ptr<vart::InferResult>>>;

  // Opens device and model. The model has one input, a picture, and one output.
  Pipeline(const std::string& model, bool zero_copy, const Board& board);

  // Copies the picture into a frame of the device, and binds all further buffers.
  void set_picture(const std::string& path);

  // To be called in this order, again and again.
  void preprocess();
  void infer();
  Results postprocess();

  const vart::NpuTensorInfo& input() const { return input_; }
  const vart::NpuTensorInfo& output() const { return output_; }
  // Bytes of tensors that the runner has converted since it was made, instead of using them in
  // place; nothing where the runtime does not count them.
  std::optional<size_t> converted_bytes() const;

 private:
  void configure_preprocess();
  void configure_postprocess();
  void bind_input();
  void bind_output();

  Board board_;
  std::shared_ptr<vart::Device> device_;
  std::shared_ptr<vart::Runner> runner_;
  vart::NpuTensorInfo input_, output_;
  samples::PictureFormat format_;
  std::unique_ptr<vart::PreProcess> preprocess_;
  std::unique_ptr<vart::PostProcess> postprocess_;
  std::unique_ptr<vart::VideoFrame> picture_frame_, input_frame_;
  std::shared_ptr<vart::Memory> result_memory_;
  std::vector<vart::PreProcessOp> operations_;
  std::vector<std::vector<vart::NpuTensor>> inputs_, outputs_;
};
