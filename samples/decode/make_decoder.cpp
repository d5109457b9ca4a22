// Writes a small decoder with random weights, for the sample `decode`.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

#include "samples/decode/decoder_network.hpp"

namespace {

using millrace::decoder::DecoderOptions;
using millrace::decoder::Weights;

void write(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

int run(int argc, char** argv) {
  CLI::App app("Writes a decoder with random weights as an ONNX file.", "make_decoder");
  DecoderOptions options;
  std::string path;
  const std::map<std::string, Weights> names = {
      {"fp32", Weights::kFloat32}, {"int8", Weights::kInt8}, {"int4", Weights::kInt4}};
  app.add_option("output", path, "the ONNX file")->required();
  app.add_option("--layers", options.layers, "number of layers");
  app.add_option("--width", options.width, "elements of a token between the layers");
  app.add_option("--heads", options.heads, "heads of the queries");
  app.add_option("--kv-heads", options.kv_heads, "heads of the keys and values");
  app.add_option("--feed-forward", options.feed_forward, "inner width of feed-forward layers");
  app.add_option("--vocabulary", options.vocabulary, "number of different tokens");
  app.add_option("--context", options.context, "most tokens of a sequence");
  app.add_option("--seed", options.seed, "seed of the weights");
  app.add_option("--weights", options.weights, "fp32, int8 or int4")
      ->transform(CLI::CheckedTransformer(names));
  CLI11_PARSE(app, argc, argv);
  write(path, decoder_network(options));
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  return run(argc, argv);
} catch (const std::exception& error) {
  std::fprintf(stderr, "make_decoder: %s\n", error.what());
  return 1;
}
