#include <iostream>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

using namespace weft;

int main() {
  Random random(1);
  const Gpt<float> model(
      {.vocabulary_size = 40, .max_len = 64, .num_hiddens = 64, .num_heads = 4, .num_blocks = 2},
      random);
  const std::vector<TokenIds> prompts{{1}, {2, 3}, {4}, {5, 6, 7}};
  std::vector<TokenIds> texts(prompts.size());

  // One model is used by four threads, each with its own prompt.
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < prompts.size(); ++i)
    threads.emplace_back([&, i] { texts[i] = generate(model, prompts[i], {.max_tokens = 40}); });
  for (std::thread& thread : threads) thread.join();

  bool is_same = true;
  for (std::size_t i = 0; i < prompts.size(); ++i)
    is_same = is_same && texts[i] == generate(model, prompts[i], {.max_tokens = 40});
  std::cout << texts.size() << " texts, "
            << (is_same ? "the same as on one thread" : "different from those of one thread")
            << '\n';
}
