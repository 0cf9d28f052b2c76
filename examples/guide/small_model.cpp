// small_model FOLDER: writes a small Hugging Face model folder whose tokens are single letters, and
// questions to fine-tune the model on.
#include <filesystem>
#include <fstream>
#include <iostream>

#include <weft/pretrained.hpp>

using namespace weft;

int main(int argc, char** argv) {
  const std::filesystem::path folder = argc > 1 ? argv[1] : "small";
  std::filesystem::create_directories(folder);

  // Llama's architecture.
  const GptOptions options{.vocabulary_size = 32,
                           .num_hiddens = 32,
                           .num_heads = 4,
                           .num_blocks = 2,
                           .ffn_num_hiddens = 64,
                           .bias = false,
                           .rotary = RotaryOptions{},
                           .norm = Norm::rms_norm,
                           .swiglu = true,
                           .num_kv_heads = 2};
  Random random(1);
  save_pretrained(folder, Gpt(options, random), {.eos_token_ids = {2}});

  std::string letters;
  for (char letter = 'a'; letter <= 'z'; ++letter)
    letters += str_cat(", \"", letter, "\": ", 6 + letter - 'a');
  std::ofstream(folder / "tokenizer.json")
      << R"({"added_tokens": [{"id": 1, "content": "<s>", "special": true, "normalized": false},
                  {"id": 2, "content": "</s>", "special": true, "normalized": false}],
 "decoder": {"type": "Fuse"},
 "model": {"type": "BPE", "unk_token": "?", "merges": [],
           "vocab": {"?": 0, "<s>": 1, "</s>": 2, " ": 3, "|": 4, ".": 5)"
      << letters << "}}}\n";
  std::ofstream(folder / "chat_template.jinja")
      << "{% for m in messages %}{{ '<s>' + m['role'] + '|' + m['content'] + '</s>' }}{% endfor %}"
         "{% if add_generation_prompt %}{{ '<s>assistant|' }}{% endif %}";
  std::ofstream questions(folder / "questions.jsonl");
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    const bool is_vowel = std::string("aeiou").find(letter) != std::string::npos;
    questions << R"({"prompt": ")" << letter << R"(", "answer": ")" << (is_vowel ? "yes" : "no")
              << ".\"}\n";
  }
}
