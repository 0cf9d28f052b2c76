// A program outside weft's source tree that uses weft::pretrained: it saves a model as a Hugging
// Face folder next to the path that it is given, loads it again, and renders a chat template.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include <weft/pretrained.hpp>

using namespace weft;

int main(int argc, char** argv) try {
  if (argc != 2) throw ValueError("expected a path");
  const std::filesystem::path folder = std::filesystem::path(argv[1]).parent_path() / "model";
  Random random(1);
  const GptOptions options{
      .vocabulary_size = 11, .max_len = 8, .num_hiddens = 8, .num_heads = 2, .num_blocks = 1};
  const Gpt model(options, random);
  save_pretrained(folder, model, {.eos_token_ids = {2}});
  const Gpt loaded = load_gpt(folder).model;

  Tape tape = Tape<float>::inference();
  const Tokens tokens({1, 3}, {5, 6, 7});
  const Tensor<float> expected = model(tape, tokens).value(), got = loaded(tape, tokens).value();
  const bool is_equal = std::equal(expected.begin(), expected.end(), got.begin());
  std::filesystem::remove_all(folder);

  const ChatTemplate chat("{% for m in messages %}[{{ m.role }}] {{ m.content }}{% endfor %}");
  const std::string text = chat.apply(std::vector<ChatMessage>{{"user", "Hello"}}, false);
  std::cout << (is_equal ? "ok      " : "FAILED  ") << "a saved model is loaded\n"
            << (text == "[user] Hello" ? "ok      " : "FAILED  ")
            << "a chat template is rendered\n";
  return is_equal && text == "[user] Hello" ? 0 : 1;
} catch (const Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
