// run_cases CASES RESULT: applies parts of tokenizer.json files to texts. CASES is a list of
// objects: with "normalizer" or "pre_tokenizer" and "texts", whose results are the changed texts or
// lists of words; or with "tokenizer", "texts" and "ids", whose results are the ids of the texts,
// those with the tokens of a whole text, and the texts of the ids. RESULT has a list of results for
// each case, or {"error": …}, also in the place of a text's.
#include <exception>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <weft/autograd/error.hpp>
#include <weft/train/text/tokenizers/pretrained_tokenizer.hpp>
#include <weft/train/text/tokenizers/utf8_stream_decoder.hpp>
#include "train/text/tokenizers/internal/text_steps.hpp"

namespace {

using namespace weft;
using nlohmann::json;

template <class Action>
json result_of(const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    return {{"error", error.what()}};
  }
}

json results_for(const json& texts, const auto& result_for) {
  json results = json::array();
  for (const json& text : texts)
    results.push_back(result_of([&] { return json(result_for(text)); }));
  return results;
}

std::vector<std::string> words_of(const PreTokenizer& pre_tokenizer, const std::string& text) {
  std::vector<std::string> words;
  TextPass pass(text.size());
  pre_tokenizer(text, true, pass, [&](std::string_view word, bool) { words.emplace_back(word); });
  return words;
}

json results_of(const json& one) {
  if (one.contains("normalizer"))
    return results_for(one["texts"],
                       [step = make_normalizer(one["normalizer"])](const std::string& text) {
                         TextPass pass(text.size());
                         return step(text, pass);
                       });
  if (one.contains("pre_tokenizer"))
    return results_for(one["texts"], [step = make_pre_tokenizer(one["pre_tokenizer"], false)](
                                         const std::string& text) { return words_of(step, text); });
  const auto tokenizer = PretrainedTokenizer::from_text(one["tokenizer"].dump());
  json encoded = results_for(one["texts"], [&](const std::string& text) {
    const TokenIds ids = tokenizer.encode(text);
    return json{{"ids", ids}, {"ends", tokenizer.add_special_tokens(ids)}};
  });
  json decoded = results_for(one["ids"], [&](const TokenIds& ids) {
    Utf8StreamDecoder characters;
    std::string text = characters.add(tokenizer.decode(ids));
    return text += characters.finish();
  });
  return {{"encoded", std::move(encoded)}, {"decoded", std::move(decoded)}};
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::cerr << "run_cases: expected CASES RESULT, got " << argc - 1 << " arguments\n";
    return 2;
  }
  json results = json::array();
  for (const json& one : json::parse(std::ifstream(argv[1])))
    results.push_back(result_of([&] { return results_of(one); }));
  std::ofstream(argv[2]) << results;
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
