// load_model FOLDER: trains a small language model, and loads it again from its checkpoint.
#include <filesystem>
#include <iostream>

#include <weft/pretrained.hpp>

using namespace weft;

int main(int argc, char** argv) {
  const std::filesystem::path folder = argc > 1 ? argv[1] : "run";
  const std::string text =
      "the weft is drawn through the warp, over one thread and under the next; ";
  const Vocabulary letters = Vocabulary::of_characters(text);
  const TokenIds ids = letters.encode_text(text + text);
  WindowBatches<TokenId> windows(Tokens({std::ssize(ids)}, ids), {.length = 64, .stride = 1});
  Random random(1);
  Gpt model({.vocabulary_size = letters.size(),
             .max_len = 64,
             .num_hiddens = 32,
             .num_heads = 4,
             .num_blocks = 2},
            random);
  AdamW optimizer(model);
  Trainer trainer(
      model, optimizer, windows,
      [&](Tape<float>& tape, const TensorBatch<TokenId>& batch) {
        return model.loss(tape, batch.inputs, batch.targets);
      },
      {.epochs = 80,
       .schedule = warmup_cosine_schedule({.peak = 1e-2, .warmup_steps = 20, .total_steps = 240}),
       .folder = folder});
  trainer.register_for_checkpointing("tokenizer", letters);
  trainer.run();

  // In a different program:
  const auto gpt = load_gpt(folder / "last.h5");
  const TokenIds answer = generate(gpt.model, gpt.tokenizer.encode("the weft"),
                                   {.max_tokens = 53, .sampling = {.temperature = 0}});
  std::cout << gpt.model.options.num_blocks << " blocks: " << gpt.tokenizer.decode(answer) << '\n';
  // Writes a folder that both transformers and load_gpt can read.
  save_pretrained(folder / "hugging_face", gpt.model, {.eos_token_ids = gpt.eos_token_ids});
  const auto again = load_gpt(folder / "hugging_face");
  std::cout << "tied: " << std::boolalpha << again.model.options.tied << '\n';
}
