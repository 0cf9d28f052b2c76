// gpt finetune and gpt sample --chat: refused models, data and options.
#include <filesystem>

#include "tests/catch.hpp"
#include "tests/examples/gpt_folder.hpp"

using namespace weft;
namespace fs = std::filesystem;

TEST_CASE("gpt finetune: adapters of another model, and on adapters, are refused", "[examples]") {
  const GptFolder fixture;
  REQUIRE(fixture.finetune({"--lora", "2"}).status == 0);
  const Outcome again =
      fixture.run({"finetune", "--model", fixture.out, "--data", fixture.data, "--out",
                   fixture.model + "-2", "--length", "40", "--lora", "2"});
  CHECK(again.status == 1);
  CHECK(contains(again.errors,
                 "expected a model without adapters, for --lora, got adapter_config.json"));
  // A model of other sizes.
  for (const char* const name : {"config.json", "model.safetensors"})
    fs::copy_file(fs::path(WEFT_TEST_DATA "/language_models/qwen3") / name,
                  fs::path(fixture.model) / name, fs::copy_options::overwrite_existing);
  const Outcome other = fixture.chat(fixture.out);
  CHECK(other.status == 1);
  CAPTURE(other.errors);
  CHECK(is_one_line(other.errors));
  CHECK(contains(other.errors, "q_proj.lora_B.weight: expected shape [32, 2], got [24, 2]"));
}

TEST_CASE("gpt finetune: bad data are an error that names the line", "[examples]") {
  const GptFolder fixture;
  const std::string good = "{\"text\": \"abc\"}\n";
  CHECK(contains(fixture.error_with(good + "\n{\"text\": \"a\"\n"),
                 "data.jsonl', line 3: expected JSON, got an error in line 1, at byte 13"));
  CHECK(contains(fixture.error_with(good + "[]\n"), "line 2: line: expected an object, got array"));
  CHECK(contains(
      fixture.error_with("{\"prompt\": \"a\"}\n"),
      "line 1: line: expected an answer (or completion, or response) to the prompt, got none"));
  CHECK(contains(fixture.error_with("{\"text\": 5}\n"),
                 "line 1: text: expected a string, got number"));
  CHECK(contains(fixture.error_with("{}\n"), "line 1: text: expected a string, got none"));
  CHECK(contains(fixture.error_with("{\"messages\": 5}\n"),
                 "line 1: messages: expected a list, got number"));
  CHECK(contains(fixture.error_with("{\"messages\": [{\"role\": \"user\"}]}\n"),
                 "line 1: content: expected a string, got none"));
  CHECK(contains(fixture.error_with("{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}]}\n"),
                 "line 1: line: expected at least one token to learn, got none"));
  CHECK(contains(fixture.error_with(str_cat("{\"text\": \"", std::string(50, 'a'), "\"}\n")),
                 "line 1: line: expected at most 40 tokens (--length), got"));
  CHECK(contains(fixture.error_with("\n \n"), "expected at least one example, got none"));
  CHECK(contains(fixture.run({"finetune", "--model", fixture.model}).errors, "--data"));
  CHECK(contains(fixture.finetune({"--lora", "2", "--layers", "("}).errors,
                 "layers: expected a regular expression, got '('"));
  CHECK(contains(fixture.finetune({"--lora", "2", "--layers", std::string(20'000, '(')}).errors,
                 "layers: expected an expression nested at most 250 levels deep, got '((("));
  CHECK(contains(fixture.finetune({"--length", "100"}).errors,
                 "--length: expected at most the model's context of 64 tokens, got 100"));
  write_bytes(fixture.data, good);
  CHECK(contains(fixture.finetune({"--lora", "2", "--layers", "none"}).errors,
                 "add_lora: expected at least one selected linear layer, got 0"));
  CHECK(contains(fixture
                     .run({"finetune", "--model", fixture.folder.path().string(), "--data",
                           fixture.data, "--out", fixture.out})
                     .errors,
                 "config.json"));
}

TEST_CASE("gpt finetune: lines of which only a part would be learned are errors", "[examples]") {
  const GptFolder fixture;
  for (const auto& [line, error] :
       {std::pair<const char*, const char*>{R"({"text": "ab", "text": "cd"})",
                                            "JSON: expected each name once, got 'text' twice"},
        {R"({"messages": [{"role": "user", "content": "a", "content": "b"}]})",
         "JSON: expected each name once, got 'content' twice"},
        {R"({"text": "ab", "messages": [{"role": "assistant", "content": "a"}]})",
         "line: expected either messages or text, got both"},
        {R"({"text": "ab", "prompt": "a", "answer": "b"})",
         "line: expected either prompt or text, got both"},
        {R"({"prompt": "a", "answer": "b", "completion": "c"})",
         "line: expected either answer or completion, got both"},
        {R"({"text": "ab", "answer": "b"})", "line: expected a prompt for the answer, got text"},
        {R"({"response": "b"})", "line: expected a prompt for the response, got none"},
        {R"({"messages": [{"role": "assistant", "content": "a"}], "tools": [1]})",
         "line: expected only messages, prompt and answer, or text, got the unsupported entry "
         "tools"},
        {R"({"prompt": "a", "input": "x", "response": "b"})", "got the unsupported entry input"},
        {R"({"messages": [{"role": "assistant", "content": "a", "tool_calls": []}]})",
         "messages: expected objects with only role and content, got tool_calls"}}) {
    INFO(line);
    const std::string message = fixture.error_with(std::string(line) + "\n");
    CAPTURE(message);
    CHECK(contains(message, "data.jsonl', line 1: "));
    CHECK(contains(message, error));
  }
  // Entries that mean nothing, and those without a value.
  write_bytes(fixture.data,
              R"({"id": 7, "prompt": "a", "answer": "b", "completion": null, "text": null})"
              "\n");
  CHECK(fixture.finetune().status == 0);
}

TEST_CASE("gpt finetune: an output that is an input is refused before anything is written",
          "[examples]") {
  const GptFolder fixture;
  const fs::path out = fixture.out;
  fs::create_directory_symlink(fixture.model, fixture.folder / "link");
  for (const std::string& folder : {fixture.model, (fixture.folder / "link").string()})
    for (const char* const rank : {"2", "0"}) {
      CAPTURE(folder, rank);
      CHECK(contains(fixture.refusal({"--out", folder, "--lora", rank}),
                     "expected a directory that is not an input, got an input directory"));
    }
  const std::string same = "expected a file that is not an input, got an input file";
  // As a validation, by its name, by another one, and through a link; with tokens of the model.
  fs::create_directory(out);
  write_bytes(out / "metrics.csv", "abc abc abc");
  CHECK(contains(fixture.refusal({"--validation", (out / "metrics.csv").string()}),
                 "metrics.csv': " + same));
  fs::remove(out / "metrics.csv");
  for (const char* const name :
       {"best.h5", "last.h5", "metrics.csv", "run.json", "report.html", "trace.json", "step-7.h5",
        "events.out.tfevents", "tokenizer.json", "chat_template.jinja", "vocab.json"}) {
    INFO(name);
    for (const bool is_hard : {true, false}) {
      if (is_hard)
        fs::create_hard_link(fixture.data, out / name);
      else
        fs::create_symlink(fixture.data, out / name);
      CHECK(contains(fixture.refusal({}), name + ("': " + same)));
      fs::remove(out / name);
    }
  }
  // A file of the model itself.
  fs::create_hard_link(fs::path(fixture.model) / "tokenizer.json", out / "tokenizer.json");
  CHECK(contains(fixture.refusal({}), "tokenizer.json': " + same));
  fs::remove(out / "tokenizer.json");
  // Beside another model or other adapters, what is loaded afterwards might be another.
  for (const char* const name : {"model.safetensors", "config.json", "adapter_config.json"})
    for (const char* const rank : {"2", "0"}) {
      write_bytes(out / name, "precious");
      CHECK(contains(
          fixture.refusal({"--lora", rank}),
          str_cat("expected a directory without a model or adapters, or --resume, got ", name)));
      fs::remove(out / name);
    }
  CHECK(fixture.finetune().status == 0);
}

TEST_CASE("gpt finetune: adapters are a part of the model, or refused", "[examples]") {
  const GptFolder fixture;
  REQUIRE(fixture.finetune({"--lora", "6", "--layers", ".*W_[qkvo]|.*ffn.*", "--epochs", "60"})
              .status == 0);
  const auto trained_from = [&](const std::string& model, const std::string& out) {
    const Outcome outcome =
        fixture.finetune({"--model", model, "--out", out, "--lr", "1e-9", "--epochs", "1"});
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(fs::exists(fs::path(out) / "model.safetensors"));
    return fixture.chat(out).output;
  };
  // All weights, of a model with adapters.
  CHECK(trained_from(fixture.out, fixture.out + "2") == "yes.\n");
  CHECK(contains(fixture.refusal({"--model", fixture.out, "--out", fixture.model}),
                 "expected a directory that is not an input"));
  // In the folder of the base, as other programs save them.
  for (const char* const name : {"adapter_config.json", "adapter_model.safetensors"})
    fs::copy_file(fs::path(fixture.out) / name, fs::path(fixture.model) / name);
  CHECK(fixture.chat(fixture.model).output == "yes.\n");
  CHECK(contains(fixture.refusal({"--lora", "2", "--out", fixture.out + "3"}),
                 "expected a model without adapters, for --lora, got adapter_config.json; "
                 "without --lora, its adapters are merged"));
  CHECK(trained_from(fixture.model, fixture.out + "4") == "yes.\n");
  // Now the base has adapters, and it is unknown whether these adapters were trained with them.
  CHECK(contains(fixture.chat(fixture.out).errors,
                 "expected a model without adapters, got adapter_config.json"));
}

TEST_CASE("gpt finetune: options that have no effect are refused", "[examples]") {
  const GptFolder fixture;
  const auto with = [&](const std::vector<std::string>& extra) {
    const auto before = fixture.files();
    const Outcome outcome = fixture.finetune(extra);
    CHECK(outcome.status != 0);
    CHECK((fixture.files() == before));
    return outcome.errors;
  };
  CHECK(contains(with({"--alpha", "8"}), "option --alpha: has no effect without --lora"));
  CHECK(contains(with({"--layers", ".*", "--lora", "0"}),
                 "option --layers: has no effect without --lora"));
  CHECK(contains(with({"--lora-dropout", "0.1"}),
                 "option --lora-dropout: has no effect without --lora"));
  write_bytes(fixture.data, "{\"text\": \"abc\"}\n{\"text\": \"abc\"}\n");
  CHECK(contains(with({"--validate-every", "2"}), "--validate-every: expected validation data"));
  CHECK(contains(with({"--samples", "2"}), "--samples: expected prompts in the validation data"));
  CHECK(contains(with({"--samples", "2", "--validation", fixture.data}),
                 "--samples: expected prompts in the validation data, got none"));
}

TEST_CASE("gpt sample --chat: a line that is not UTF-8 is reported, and the chat goes on",
          "[examples]") {
  const GptFolder fixture;
  const auto chat = [&](const std::string& lines) {
    return process_in(fixture.folder, "printf '" + lines +
                                          "' | gpt sample --model model --chat --temperature 0 "
                                          "--tokens 3");
  };
  const Outcome good = chat("m\\nn\\n"), bad = chat("m\\n\\377\\nn\\n");
  CHECK(good.status == 0);
  CHECK(bad.status == 1);
  CHECK(good.output == bad.output);
  CHECK(contains(bad.errors, "UTF-8"));
  CHECK(contains(bad.errors, "gpt sample: "));
}

TEST_CASE("gpt sample --chat: needs a chat template, and adapters their model", "[examples]") {
  const GptFolder fixture;
  REQUIRE(fixture.finetune({"--lora", "2"}).status == 0);
  fs::remove(fs::path(fixture.model) / "chat_template.jinja");
  CHECK(contains(fixture.chat(fixture.model).errors, "expected a chat template, got none"));
  fs::remove_all(fixture.model);
  const Outcome outcome = fixture.chat(fixture.out);
  CHECK(outcome.status == 1);
  CHECK(is_one_line(outcome.errors));
  CHECK(contains(outcome.errors, "model"));
}
