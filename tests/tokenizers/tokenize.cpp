// tokenize TOKENIZER TEXTS [RESULT]: encodes the texts of a JSON list by a tokenizer.json. Writes
// their ids, and the texts that these decode to, as JSON; without RESULT, prints the seconds of
// processor time that encoding takes.
#include <ctime>
#include <exception>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <weft/train/text/tokenizers/pretrained_tokenizer.hpp>
#include <weft/train/text/tokenizers/utf8_stream_decoder.hpp>

int main(int argc, char** argv) try {
  using namespace weft;
  if (argc != 3 && argc != 4) {
    std::cerr << "tokenize: expected TOKENIZER TEXTS [RESULT], got " << argc - 1 << " arguments\n";
    return 2;
  }
  const auto tokenizer = PretrainedTokenizer::load(argv[1]);
  const auto texts = nlohmann::json::parse(std::ifstream(argv[2])).get<std::vector<std::string>>();
  std::vector<TokenIds> ids;
  const std::clock_t begin = std::clock();
  for (const std::string& text : texts) ids.push_back(tokenizer.encode(text));
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  if (argc == 3) {
    std::cout << seconds << '\n';
    return 0;
  }
  nlohmann::json result = nlohmann::json::array();
  for (const TokenIds& one : ids) {
    Utf8StreamDecoder characters;
    std::string text = characters.add(tokenizer.decode(one));
    text += characters.finish();
    result.push_back({{"ids", one}, {"ends", tokenizer.add_special_tokens(one)}, {"text", text}});
  }
  std::ofstream(argv[3]) << result;
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
