// gpt finetune and gpt sample --chat: a small model in the form of a folder of Hugging Face.
#include <chrono>
#include <filesystem>
#include <map>
#include <sstream>
#include <thread>

#include <weft/train/pretrained/lora_weights.hpp>
#include <weft/train/pretrained/pretrained.hpp>
#include "examples/gpt/program.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/examples/process.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;
namespace fs = std::filesystem;

namespace {

const fs::path golden = WEFT_TEST_DATA "/language_models/llama";

// A row of metrics.csv without the tokens per second.
std::string without_time(const std::string& row) {
  std::string kept;
  std::istringstream cells(row);
  int column = 0;
  for (std::string cell; std::getline(cells, cell, ','); ++column)
    if (column != 5) kept += cell + ',';
  return kept + '\n';
}

// The small model, with tokens of single letters and a chat template.
struct Fixture {
  TemporaryFolder folder;
  std::string model = (folder / "model").string(), out = (folder / "out").string(),
              data = (folder / "data.jsonl").string();
  // For a process in the folder, with files of these names.
  std::string command = "gpt finetune --model model --data data.jsonl --out out";

  Fixture() {
    fs::create_directory(model);
    for (const char* const name : {"config.json", "model.safetensors"})
      fs::copy_file(golden / name, fs::path(model) / name);
    std::string vocabulary = R"("?":0,"<s>":1,"</s>":2," ":3,"|":4,".":5)";
    for (int i = 0; i < 26; ++i)
      vocabulary += str_cat(",\"", static_cast<char>('a' + i), "\":", 6 + i);
    write_bytes(fs::path(model) / "tokenizer.json", R"({"added_tokens":[
      {"id":1,"content":"<s>","special":true,"normalized":false},
      {"id":2,"content":"</s>","special":true,"normalized":false}],
      "decoder":{"type":"Fuse"},"model":{"type":"BPE","unk_token":"?","vocab":{)" +
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
  Outcome process(const std::string& extra) const { return process_in(folder, command + extra); }
  // The adapters, and the checkpoint with the state of the optimizer.
  std::string result() const {
    return bytes_of(fs::path(out) / "adapter_model.safetensors") +
           bytes_of(fs::path(out) / "last.h5");
  }
  std::string losses() const {
    std::istringstream metrics(bytes_of(fs::path(out) / "metrics.csv"));
    std::string rows;
    for (std::string row; std::getline(metrics, row);) rows += without_time(row);
    return rows;
  }
  Outcome chat(const std::string& of) const {
    return run({"sample", "--model", of, "--chat", "--prompt", "m", "--temperature", "0",
                "--tokens", "12"});
  }
  // The files below the folder, and what is in them.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> contents;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
      if (entry.is_regular_file()) contents[entry.path().string()] = bytes_of(entry.path());
    return contents;
  }
  // The error of a fine-tuning that changes no file.
  std::string refusal(const std::vector<std::string>& extra) const {
    const auto before = files();
    const Outcome outcome = finetune(extra);
    CHECK(outcome.status == 1);
    CHECK(is_one_line(outcome.errors));
    CHECK((files() == before));
    return outcome.errors;
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
  CHECK(read_pretrained_gpt(fixture.out).ends == TokenIds{2});
}

TEST_CASE("gpt finetune: a resumed training has the date with which it began", "[examples]") {
  const Fixture fixture;
  // A letter for each second.
  write_bytes(fs::path(fixture.model) / "chat_template.jinja",
              "{{ 'abcdefghij'[strftime_now('%S')[-1]|int] }}{% for m in messages %}"
              "{{ '<s>' + m['role'] + '|' + m['content'] + '</s>' }}{% endfor %}"
              "{% if add_generation_prompt %}{{ '<s>assistant|' }}{% endif %}");
  REQUIRE(fixture.finetune({"--max-steps", "2"}).status == 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  const Outcome outcome = fixture.run({"finetune", "--model", fixture.model, "--data", fixture.data,
                                       "--out", fixture.out, "--resume"});
  CAPTURE(outcome.errors);
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.output, "last.h5 at step 2"));
}

TEST_CASE("gpt finetune: paused and resumed, the adapters are the same", "[examples]") {
  const std::vector<std::string> adapters = {"--lora",   "2", "--lora-dropout",   "0.1",
                                             "--epochs", "4", "--validate-every", "3"};
  const Fixture whole, paused;
  REQUIRE(whole.finetune(adapters).status == 0);
  std::vector<std::string> begun = adapters;
  begun.insert(begun.end(), {"--max-steps", "7", "--save-every", "3"});
  REQUIRE(paused.finetune(begun).status == 0);
  CHECK((paused.result() != whole.result()));
  // All settings are those of the checkpoint.
  const Outcome outcome = paused.run({"finetune", "--model", paused.model, "--data", paused.data,
                                      "--out", paused.out, "--resume"});
  CAPTURE(outcome.errors);
  REQUIRE(outcome.status == 0);
  CHECK(contains(outcome.output, "last.h5 at step 7"));
  CHECK((paused.result() == whole.result()));
  // Checkpoints contain what is trained, and not the model.
  const std::string checkpoint = bytes_of(fs::path(paused.out) / "last.h5");
  CHECK(contains(checkpoint, "lora_A"));
  CHECK_FALSE(contains(checkpoint, "norm1"));
  // Resumed at its end, nothing changes.
  REQUIRE(paused.finetune({"--lora", "2", "--resume"}).status == 0);
  CHECK((paused.result() == whole.result()));
}

TEST_CASE("gpt finetune: resumes with the same model, data and settings only", "[examples]") {
  const Fixture fixture;
  REQUIRE(fixture.finetune({"--lora", "2", "--epochs", "2", "--max-steps", "3"}).status == 0);
  const std::string before = fixture.result();
  const auto error = [&](const std::vector<std::string>& extra) {
    std::vector<std::string> arguments = {"--resume"};
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    const Outcome outcome = fixture.finetune(arguments);
    CHECK(outcome.status == 1);
    CHECK(is_one_line(outcome.errors));
    CHECK((fixture.result() == before));
    return outcome.errors;
  };
  CHECK(contains(error({"--lora", "3"}), "--lora: expected 2, got 3"));
  CHECK(contains(error({"--alpha", "8"}), "--alpha: expected 16, got 8"));
  CHECK(contains(error({"--layers", ".*"}), "--layers: expected .*attention\\.W_[qv], got .*"));
  const std::string weights = fixture.model + "/model.safetensors";
  std::string bytes = bytes_of(weights);
  const std::string data = bytes_of(fixture.data);
  write_bytes(fixture.data, data + data);
  CHECK(contains(error({}), "last.h5"));
  write_bytes(fixture.data, data);
  bytes[bytes.size() - 1] ^= 1;
  write_bytes(weights, bytes);
  CHECK(
      contains(error({}), "--model: expected the model that the training began with, got another"));
}

TEST_CASE("gpt finetune: killed and interrupted, it is resumed with the same result",
          "[examples]") {
  // A text in each row.
  const std::string settings = " --lora 2 --length 30 --batch 1 --lr 0.01 --epochs 20";
  const Fixture whole;
  REQUIRE(whole.process(settings).status == 0);
  for (const auto& [signal, status] : {std::pair<std::string, int>("KILL", 137), {"INT", 130}}) {
    INFO(signal);
    const Fixture stopped;
    const Outcome first =
        process_in(stopped.folder,
                   signalled(stopped.command + settings + " --save-every 1", signal, "epoch 1/"));
    CAPTURE(first.output, first.errors);
    REQUIRE(first.status == status);
    CHECK(contains(first.output, "interrupted after ") == (signal == "INT"));
    const Outcome second = stopped.process(" --resume");
    CAPTURE(second.output, second.errors);
    REQUIRE(second.status == 0);
    CHECK(contains(second.output, "resumed from "));
    CHECK(stopped.losses() == whole.losses());
    CHECK((stopped.result() == whole.result()));
  }
}

TEST_CASE("gpt finetune: resumed by two processes, the result is the same", "[examples]") {
  const std::string mpiexec = WEFT_MPIEXEC;
  if (mpiexec.empty()) {
    WARN("weft is built without MPI: several processes are not tested");
    return;
  }
  const std::string settings = " --lora 2 --length 40 --batch 2 --lr 0.01 --parts 2 --epochs 6";
  const Fixture whole, shared;
  REQUIRE(whole.process(settings).status == 0);
  REQUIRE(shared.process(settings + " --max-steps 3").status == 0);
  // The library of MPI keeps memory of its own, which is no leak.
  const Outcome outcome = process_in(
      shared.folder,
      "ASAN_OPTIONS=detect_leaks=0 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
      "OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe " +
          mpiexec + " -n 2 " + shared.command + " --resume --samples 1");
  CAPTURE(outcome.output, outcome.errors);
  REQUIRE(outcome.status == 0);
  CHECK(contains(outcome.output, "at step 3"));
  CHECK((shared.result() == whole.result()));
}

TEST_CASE("gpt finetune and evaluate: answers are shown and counted", "[examples]") {
  const Fixture fixture;
  const auto evaluate = [&](const std::string& model) {
    const Outcome outcome =
        fixture.run({"evaluate", "--model", model, "--data", fixture.data, "--lines"});
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
    return outcome.output;
  };
  const std::string before = evaluate(fixture.model);
  CHECK(before.ends_with("\n0 of 12 answers are as expected\n"));
  CHECK(contains(before, ", expected yes.\n"));
  const Outcome outcome =
      fixture.finetune({"--lora", "6", "--layers", ".*W_[qkvo]|.*ffn.*", "--epochs", "60",
                        "--validate-every", "50", "--samples", "3"});
  REQUIRE(outcome.status == 0);
  // The only text of the validation has one prompt.
  CHECK(contains(outcome.output, "\n\nright: yes.\nepoch "));
  CHECK_FALSE(contains(outcome.output, "right: yes.\nright"));
  const std::string after = evaluate(fixture.out);
  CHECK(after.starts_with("right: yes.\nright: yes.\n"));
  CHECK(after.ends_with("\n12 of 12 answers are as expected\n"));

  // Of several answers the last one counts; a text without a prompt is no question.
  write_bytes(fixture.data,
              R"({"messages": [{"role": "user", "content": "a"}, )"
              R"({"role": "assistant", "content": "no"}, {"role": "user", "content": "b"}, )"
              R"({"role": "assistant", "content": "yes."}]})"
              "\n{\"text\": \"abc\"}\n");
  CHECK(contains(evaluate(fixture.out), " of 1 answers are as expected\n"));
  write_bytes(fixture.data, "{\"text\": \"abc\"}\n");
  CHECK(contains(fixture.run({"evaluate", "--model", fixture.model, "--data", fixture.data}).errors,
                 "data.jsonl': expected prompts and answers, got texts without prompts"));
}

TEST_CASE("gpt finetune: adapters of another model, and on adapters, are refused", "[examples]") {
  const Fixture fixture;
  REQUIRE(fixture.finetune({"--lora", "2"}).status == 0);
  const Outcome again =
      fixture.run({"finetune", "--model", fixture.out, "--data", fixture.data, "--out",
                   fixture.model + "-2", "--length", "40", "--lora", "2"});
  CHECK(again.status == 1);
  CHECK(contains(again.errors, "expected a model without adapters to add some, got one with"));
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
  const Fixture fixture;
  const std::string good = "{\"text\": \"abc\"}\n";
  CHECK(contains(fixture.error_with(good + "\n{\"text\": \"a\"\n"),
                 "data.jsonl', line 3: expected JSON, got an error in line 1, at byte 13"));
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
  CHECK(contains(fixture.error_with(str_cat("{\"text\": \"", std::string(50, 'a'), "\"}\n")),
                 "line 1: line: expected at most 40 tokens (--length), got"));
  CHECK(contains(fixture.error_with("\n \n"), "expected texts, got none"));
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
  const Fixture fixture;
  for (const auto& [line, error] :
       {std::pair<const char*, const char*>{R"({"text": "ab", "text": "cd"})",
                                            "JSON: expected each name once, got 'text' twice"},
        {R"({"messages": [{"role": "user", "content": "a", "content": "b"}]})",
         "JSON: expected each name once, got 'content' twice"},
        {R"({"text": "ab", "messages": [{"role": "assistant", "content": "a"}]})",
         "line: expected one of messages and text, got both"},
        {R"({"text": "ab", "prompt": "a", "answer": "b"})",
         "line: expected one of prompt and text, got both"},
        {R"({"prompt": "a", "answer": "b", "completion": "c"})",
         "line: expected one of answer and completion, got both"},
        {R"({"text": "ab", "answer": "b"})", "line: expected a prompt to the answer, got text"},
        {R"({"response": "b"})", "line: expected a prompt to the response, got none"},
        {R"({"messages": [{"role": "assistant", "content": "a"}], "tools": [1]})",
         "line: expected messages, prompt and answer, or text, got also tools"},
        {R"({"prompt": "a", "input": "x", "response": "b"})", "got also input"},
        {R"({"messages": [{"role": "assistant", "content": "a", "tool_calls": []}]})",
         "messages: expected objects of role and content, got also tool_calls"}}) {
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
  const Fixture fixture;
  const fs::path out = fixture.out;
  fs::create_directory_symlink(fixture.model, fixture.folder / "link");
  for (const std::string& folder : {fixture.model, (fixture.folder / "link").string()})
    for (const char* const rank : {"2", "0"}) {
      CAPTURE(folder, rank);
      CHECK(contains(fixture.refusal({"--out", folder, "--lora", rank}),
                     "expected another directory than the input, got the same one"));
    }
  const std::string same = "expected another file than the input, got the same one";
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
      CHECK(contains(fixture.refusal({"--lora", rank}),
                     str_cat("expected one without a model or adapters, or --resume, got ", name)));
      fs::remove(out / name);
    }
  CHECK(fixture.finetune().status == 0);
}

TEST_CASE("gpt finetune: adapters are a part of the model, or refused", "[examples]") {
  const Fixture fixture;
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
                 "expected another directory than the input"));
  // In the folder of the base, as other programs save them.
  for (const char* const name : {"adapter_config.json", "adapter_model.safetensors"})
    fs::copy_file(fs::path(fixture.out) / name, fs::path(fixture.model) / name);
  CHECK(fixture.chat(fixture.model).output == "yes.\n");
  CHECK(contains(fixture.refusal({"--lora", "2", "--out", fixture.out + "3"}),
                 "expected a model without adapters to add some, got one with adapters "
                 "(adapter_config.json); without --lora, they are merged"));
  CHECK(trained_from(fixture.model, fixture.out + "4") == "yes.\n");
  // Now their base has adapters, with which they were trained or not.
  CHECK(contains(fixture.chat(fixture.out).errors,
                 "expected a model without adapters of its own, got one with adapter_config.json"));
}

TEST_CASE("gpt finetune: options that have no effect are refused", "[examples]") {
  const Fixture fixture;
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
  CHECK(contains(with({"--validate-every", "2"}), "--validate-every: expected texts for"));
  CHECK(contains(with({"--samples", "2"}), "--samples: expected prompts in the validation"));
  CHECK(contains(with({"--samples", "2", "--validation", fixture.data}),
                 "--samples: expected prompts in the validation, got none"));
}

TEST_CASE("gpt sample --chat: a line that is not UTF-8 is reported, and the chat goes on",
          "[examples]") {
  const Fixture fixture;
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
