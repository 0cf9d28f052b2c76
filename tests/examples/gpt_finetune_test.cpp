// gpt finetune and gpt sample --chat: a small model in the form of a folder of Hugging Face.
#include <filesystem>

#include <weft/train/weights/lora_weights.hpp>
#include <weft/train/weights/pretrained.hpp>
#include "examples/gpt/program.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/examples/outcome.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;
namespace fs = std::filesystem;

namespace {

const fs::path golden = WEFT_TEST_DATA "/language_models/llama";

// The small model, with tokens of single letters and a chat template.
struct Fixture {
  TemporaryFolder folder;
  std::string model = (folder / "model").string(), out = (folder / "out").string(),
              data = (folder / "data.jsonl").string();

  Fixture() {
    fs::create_directory(model);
    for (const char* const name : {"config.json", "model.safetensors"})
      fs::copy_file(golden / name, fs::path(model) / name);
    std::string vocabulary = R"("?":0,"<s>":1,"</s>":2," ":3,"|":4,".":5)";
    for (int i = 0; i < 26; ++i)
      vocabulary += concatenate_text(",\"", static_cast<char>('a' + i), "\":", 6 + i);
    write_bytes(fs::path(model) / "tokenizer.json", R"({"added_tokens":[
      {"id":1,"content":"<s>","special":true,"normalized":false},
      {"id":2,"content":"</s>","special":true,"normalized":false}],
      "model":{"type":"BPE","unk_token":"?","vocab":{)" +
                                                        vocabulary + R"(},"merges":[]}})");
    write_bytes(fs::path(model) / "chat_template.jinja",
                "{% for m in messages %}{{ '<s>' + m['role'] + '|' + m['content'] + '</s>' }}"
                "{% endfor %}{% if add_generation_prompt %}{{ '<s>assistant|' }}{% endif %}");
    std::string lines;
    for (const char* const question : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"})
      lines += std::string(R"({"prompt": ")") + question + R"(", "answer": "yes."})" + '\n';
    write_bytes(data, lines);
  }

  Outcome run(std::vector<std::string> arguments) const {
    return outcome_of(gpt::run_program, "gpt", std::move(arguments));
  }
  Outcome finetune(const std::vector<std::string>& extra = {}) const {
    std::vector<std::string> arguments = {"finetune", "--model", model,      "--data", data,
                                          "--out",    out,       "--length", "40",     "--lr",
                                          "0.02",     "--batch", "2"};
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    return run(arguments);
  }
  Outcome chat(const std::string& of) const {
    return run({"sample", "--model", of, "--chat", "--prompt", "m", "--temperature", "0",
                "--tokens", "12"});
  }
  std::string error_with(const std::string& lines) const {
    write_bytes(data, lines);
    const Outcome outcome = finetune();
    CHECK(outcome.status == 1);
    CHECK(is_one_line(outcome.errors));
    return outcome.errors;
  }
};

}  // namespace

TEST_CASE("gpt finetune: adapters learn the answers and leave the model", "[examples]") {
  const Fixture fixture;
  const std::string before = bytes_of(fs::path(fixture.model) / "model.safetensors");
  CHECK_FALSE(contains(fixture.chat(fixture.model).output, "yes."));
  const Outcome outcome =
      fixture.finetune({"--lora", "6", "--layers", ".*W_[qkvo]|.*ffn.*", "--epochs", "60"});
  CAPTURE(outcome.output, outcome.errors);
  REQUIRE(outcome.status == 0);
  CHECK(contains(outcome.output, "11 texts for training, 1 for validation"));
  CHECK(contains(outcome.output, "validation_loss"));
  CHECK(fixture.chat(fixture.out).output == "yes.\n");
  CHECK(bytes_of(fs::path(fixture.model) / "model.safetensors") == before);
  CHECK(fs::exists(fs::path(fixture.out) / "adapter_config.json"));
  CHECK_FALSE(fs::exists(fs::path(fixture.out) / "model.safetensors"));
  // A training that is there is not overwritten, but resumed when asked for.
  CHECK(fixture.finetune({"--lora", "6"}).status == 1);
}

TEST_CASE("gpt finetune: all weights give a folder of Hugging Face", "[examples]") {
  const Fixture fixture;
  const Outcome outcome = fixture.finetune({"--epochs", "60", "--recompute"});
  CAPTURE(outcome.output, outcome.errors);
  REQUIRE(outcome.status == 0);
  CHECK(fixture.chat(fixture.out).output == "yes.\n");
  CHECK(read_pretrained_gpt(fixture.out).ends == Sequence{2});
}

TEST_CASE("gpt finetune: paused and resumed, the adapters are the same", "[examples]") {
  const Fixture whole, paused;
  const std::vector<std::string> adapters = {"--lora", "2", "--epochs", "4"};
  auto with = [&](std::vector<std::string> extra) {
    extra.insert(extra.end(), adapters.begin(), adapters.end());
    return extra;
  };
  REQUIRE(whole.finetune(with({"--save-every", "2"})).status == 0);
  REQUIRE(paused.finetune(with({"--save-every", "2"})).status == 0);
  const auto adapters_of = [](const Fixture& fixture) {
    return bytes_of(fs::path(fixture.out) / "adapter_model.safetensors");
  };
  CHECK(adapters_of(whole) == adapters_of(paused));
  // Resumed at its end, nothing changes.
  REQUIRE(paused.finetune(with({"--resume"})).status == 0);
  CHECK(adapters_of(whole) == adapters_of(paused));
}

TEST_CASE("gpt finetune: bad data are an error that names the line", "[examples]") {
  const Fixture fixture;
  const std::string good = "{\"text\": \"abc\"}\n";
  CHECK(contains(fixture.error_with(good + "\n{\"text\": \"a\"\n"),
                 "data.jsonl', line 3: line: expected a JSON object, got other text"));
  CHECK(contains(fixture.error_with(good + "[]\n"), "line 2: line: expected an object, got array"));
  CHECK(contains(fixture.error_with("{\"prompt\": \"a\"}\n"),
                 "line 1: line: expected an answer to the prompt, got none"));
  CHECK(
      contains(fixture.error_with("{\"text\": 5}\n"), "line 1: text: expected a text, got number"));
  CHECK(contains(fixture.error_with("{}\n"), "line 1: text: expected a text, got none"));
  CHECK(contains(fixture.error_with("{\"messages\": 5}\n"),
                 "line 1: messages: expected a list, got number"));
  CHECK(contains(fixture.error_with("{\"messages\": [{\"role\": \"user\"}]}\n"),
                 "line 1: content: expected a text, got none"));
  CHECK(contains(fixture.error_with("{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}]}\n"),
                 "line 1: line: expected something to learn, got nothing"));
  CHECK(
      contains(fixture.error_with(concatenate_text("{\"text\": \"", std::string(50, 'a'), "\"}\n")),
               "line 1: line: expected at most 40 tokens (--length), got"));
  CHECK(contains(fixture.error_with("\n \n"), "expected texts, got none"));
  CHECK(contains(fixture.run({"finetune", "--model", fixture.model}).errors, "--data"));
  CHECK(fixture.finetune({"--lora", "2", "--layers", "("}).status == 2);
  write_bytes(fixture.data, good);
  CHECK(contains(fixture.finetune({"--lora", "2", "--layers", "none"}).errors,
                 "add_lora: expected linear layers of the chosen names, got none"));
  CHECK(contains(fixture
                     .run({"finetune", "--model", fixture.folder.path().string(), "--data",
                           fixture.data, "--out", fixture.out})
                     .errors,
                 "config.json"));
}

TEST_CASE("gpt sample --chat: needs a chat template, and adapters their model", "[examples]") {
  const Fixture fixture;
  REQUIRE(fixture.finetune({"--lora", "2"}).status == 0);
  fs::remove(fs::path(fixture.model) / "chat_template.jinja");
  CHECK(contains(fixture.chat(fixture.model).errors, "expected a chat template, got none"));
  fs::remove_all(fixture.model);
  const Outcome outcome = fixture.chat(fixture.out);
  CHECK(outcome.status == 1);
  CHECK(is_one_line(outcome.errors));
  CHECK(contains(outcome.errors, "model"));
}
