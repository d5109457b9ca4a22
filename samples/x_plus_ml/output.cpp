#include "output.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "vart_x_common/result_text.hpp"

namespace fs = std::filesystem;

namespace {

const fs::path kFolder = "output";

std::string results_of(const ModelFrame& frame) {
  std::ostringstream text;
  for (const auto& result : frame.results->get_children()) samples::print_result(text, *result);
  return text.str();
}

std::string title_of(const Frame& frame) {
  return "frame " + std::to_string(frame.number) + ", " + frame.name;
}

fs::path overlay_path(const Frame& frame) {
  constexpr std::size_t kDigits = 5;
  std::string number = std::to_string(frame.number);
  number.insert(0, kDigits - std::min(kDigits, number.size()), '0');
  return kFolder / ("overlay_" + number + "_" + fs::path(frame.name).stem().string() + ".jpg");
}

// The rows of a plane, in place.
cv::Mat plane_of(const MappedPicture& picture, int plane, int type) {
  const int columns = static_cast<int>(picture.row_bytes() / CV_ELEM_SIZE(type));
  return {picture.rows(plane), columns, type, picture.row(plane, 0), picture.stride(plane)};
}

cv::Mat bgr_of(const MappedPicture& picture) {
  if (picture.planes() == 1) return plane_of(picture, 0, CV_8UC3);
  cv::Mat bgr;
  cv::cvtColorTwoPlane(plane_of(picture, 0, CV_8UC1), plane_of(picture, 1, CV_8UC2), bgr,
                       cv::COLOR_YUV2BGR_NV12);
  return bgr;
}

void write_picture(const fs::path& path, vart::VideoFrame& frame) {
  const MappedPicture picture(frame, vart::DataMapFlags::READ);
  std::vector<uint8_t> encoded;
  if (!cv::imencode(".jpg", bgr_of(picture), encoded))
    throw std::runtime_error("the overlay cannot be encoded as JPEG");
  samples::OutputFile file(path.string());
  file.stream().write(reinterpret_cast<const char*>(encoded.data()),
                      static_cast<std::streamsize>(encoded.size()));
  file.commit();
}

}  // namespace

Output::Output(const std::vector<std::unique_ptr<Model>>& models) : models_(models) {
  fs::create_directories(kFolder);
  for (std::size_t i = 0; i < models.size(); ++i)
    texts_.push_back(std::make_unique<samples::OutputFile>(
        (kFolder / ("postproc" + std::to_string(i) + "_results.txt")).string()));
}

void Output::write(Frame& frame) {
  write_texts(frame);
  const bool draws =
      std::any_of(models_.begin(), models_.end(), [](const auto& model) { return model->draws(); });
  if (draws) draw(frame);
}

void Output::write_texts(const Frame& frame) {
  std::string all = title_of(frame) + "\n";
  for (std::size_t i = 0; i < models_.size(); ++i) {
    const std::string results = results_of(frame.models[i]);
    texts_[i]->stream() << title_of(frame) << "\n" << results;
    all += "model " + std::to_string(i) + "\n" + results;
  }
  std::cout << all;
}

void Output::draw(Frame& frame) {
  for (std::size_t i = 0; i < models_.size(); ++i)
    if (models_[i]->draws()) models_[i]->draw(frame.picture.frame(), frame.models[i]);
  write_picture(overlay_path(frame), frame.picture.frame());
}

void Output::commit() {
  for (const auto& text : texts_) text->commit();
}
