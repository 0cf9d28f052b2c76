// Trains a small GPT on the characters of a text file, and continues a prompt in its style.
//   characters [TEXT [PROMPT]]    by default, TEXT is the GNU General Public License
#include <iostream>

#include <weft/weft.hpp>

using namespace weft;

void run(ProcessGroup& processes, int argc, char** argv) {
  const std::string file = argc > 1 ? argv[1] : "/usr/share/common-licenses/GPL-3";
  const std::string text = processes.broadcast_from_root([&] { return read_text(file); });
  const std::string prompt = argc > 2 ? argv[2] : "You may ";
  const Vocabulary characters = Vocabulary::of_characters(text);
  const TokenIds ids = characters.encode_text(text), start = characters.encode_text(prompt);
  const Tokens tokens({std::ssize(ids)}, ids);
  const Index training = tokens.size() * 9 / 10;
  WindowBatches<TokenId> windows(rows_of(tokens, 0, training), {.length = 64, .stride = 16});
  WindowBatches<TokenId> held_out(rows_of(tokens, training, tokens.size()), {.length = 64});

  Random random(1);
  Gpt model({.vocabulary_size = characters.size(),
             .max_len = 64,
             .num_hiddens = 64,
             .num_heads = 4,
             .num_blocks = 3,
             .dropout = 0.1},
            random);
  AdamW optimizer(model, {.lr = 3e-3});
  Trainer trainer(
      model, optimizer, windows,
      [&](Tape<float>& tape, const TensorBatch<TokenId>& batch) {
        return cross_entropy(model(tape, batch.inputs), batch.targets);
      },
      {.epochs = 16, .parts = 4, .clip_norm = 1.0, .output = &std::cout, .processes = &processes});
  trainer.validate_on(held_out);
  trainer.run();
  if (!processes.is_root()) return;

  std::cout << '\n'
            << prompt
            << characters.decode_text(
                   generate(model, start, {.max_tokens = 300, .sampling = {.temperature = 0.8}}))
            << '\n';
}

int main(int argc, char** argv) {
  ProcessGroup processes;
  try {
    run(processes, argc, argv);
  } catch (const Error& error) {
    return processes.abort(str_cat("characters: ", error.what()));
  }
}
