// results FOLDER: loads the model of each folder in FOLDER that its job.json describes, and writes
// what it computes, or the error, to result.json beside it. For tests/configurations.sh.
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <weft/autograd/error.hpp>
#include <weft/train/pretrained/lora_weights.hpp>
#include <weft/train/pretrained/pretrained.hpp>
#include "examples/embed/sentence_model.hpp"

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using namespace weft;

constexpr LoadModelOptions weights_only{.tokenizer = false};

Tokens tokens_in(const json& rows) {
  const auto columns = static_cast<Index>(rows.at(0).size());
  Tokens tokens({static_cast<Index>(rows.size()), columns});
  for (Index row = 0; row < tokens.shape()[0]; ++row)
    for (Index column = 0; column < columns; ++column)
      tokens(row, column) = rows[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
  return tokens;
}

template <class T>
json values(const Tensor<T>& tensor) {
  return std::vector<T>(tensor.begin(), tensor.end());
}

json result_of(const json& job, const fs::path& folder) {
  const auto kind = job.at("kind").get<std::string>();
  Tape<double> tape = Tape<double>::inference();
  if (kind == "embed") {
    const embed::SentenceModel model(folder);
    std::vector<TokenIds> texts;
    for (const auto& text : job.at("texts").get<std::vector<std::string>>())
      texts.push_back(model.tokens(text));
    return {{"tokens", texts}, {"values", values(model.vectors(texts, 2))}};
  }
  if (kind == "adapters") {
    Gpt<double> model = load_gpt<double>(job.at("base").get<std::string>(), weights_only).model;
    load_lora(folder, model);
    return {{"values", values(model(tape, tokens_in(job.at("tokens"))).value())}};
  }
  if (kind == "bert") {
    const auto model = load_bert<double>(folder, weights_only).model;
    return {{"values", values(model(tape, tokens_in(job.at("tokens"))).value())}};
  }
  if (kind == "t5") {
    const auto [model, tokenizer, ends, start] = load_encoder_decoder<double>(folder, weights_only);
    const Tokens sources = tokens_in(job.at("sources"));
    return {{"values", values(model(tape, sources, {}, tokens_in(job.at("tokens"))).value())},
            {"ends", ends}};
  }
  const auto [model, tokenizer, ends, start] = load_gpt<double>(folder, weights_only);
  return {{"values", values(model(tape, tokens_in(job.at("tokens"))).value())}, {"ends", ends}};
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::cerr << "results: expected FOLDER, got " << argc - 1 << " arguments\n";
    return 2;
  }
  for (const auto& entry : fs::directory_iterator(argv[1])) {
    const json job = json::parse(std::ifstream(entry.path() / "job.json"));
    json result;
    try {
      result = result_of(job, entry.path());
    } catch (const Error& error) {
      result = {{"error", error.what()}};
    }
    std::ofstream(entry.path() / "result.json") << result;
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << "results: " << error.what() << '\n';
  return 1;
}
