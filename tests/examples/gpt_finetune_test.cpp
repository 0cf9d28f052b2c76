// gpt finetune: training, resuming and evaluation of a small model.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include <weft/train/pretrained/lora_weights.hpp>
#include <weft/train/pretrained/pretrained.hpp>
#include <weft/train/weights/checkpoint.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/examples/gpt_folder.hpp"

using namespace weft;
namespace fs = std::filesystem;

TEST_CASE("gpt finetune: adapters learn the answers and leave the model", "[examples]") {
  const GptFolder fixture;
  const std::string before = bytes_of(fs::path(fixture.model) / "model.safetensors");
  CHECK_FALSE(contains(fixture.chat(fixture.model).output, "yes."));
  const Outcome outcome =
      fixture.finetune({"--lora", "6", "--layers", ".*W_[qkvo]|.*ffn.*", "--epochs", "60"});
  CAPTURE(outcome.output, outcome.errors);
  REQUIRE(outcome.status == 0);
  CHECK(contains(outcome.output, "11 examples for training, 1 for validation"));
  CHECK(contains(outcome.output, "validation_loss"));
  CHECK(fixture.chat(fixture.out).output == "yes.\n");
  CHECK(bytes_of(fs::path(fixture.model) / "model.safetensors") == before);
  CHECK(fs::exists(fs::path(fixture.out) / "adapter_config.json"));
  CHECK_FALSE(fs::exists(fs::path(fixture.out) / "model.safetensors"));
  // A training that is there is not overwritten, but resumed when asked for.
  CHECK(fixture.finetune({"--lora", "6"}).status == 1);
}

TEST_CASE("gpt finetune: all weights give a folder of Hugging Face", "[examples]") {
  const GptFolder fixture;
  const Outcome outcome = fixture.finetune({"--epochs", "60", "--recompute"});
  CAPTURE(outcome.output, outcome.errors);
  REQUIRE(outcome.status == 0);
  CHECK(fixture.chat(fixture.out).output == "yes.\n");
  CHECK(load_gpt(fixture.out).eos_token_ids == TokenIds{2});
}

TEST_CASE("gpt finetune: a checkpoint gives a checkpoint, or adapters of it", "[examples]") {
  const GptFolder fixture;
  const std::string base = (fixture.folder / "base.h5").string();
  Random random(1);
  const Tokenizer characters = Vocabulary::of_characters("abcdefghijklmyes.");
  const Gpt model({.vocabulary_size = characters.size(),
                   .max_len = 40,
                   .num_hiddens = 24,
                   .num_heads = 2,
                   .num_blocks = 2},
                  random);
  save_checkpoint(base, model, {{"tokenizer", characters}});
  const bool has_adapters = GENERATE(false, true);
  std::vector<std::string> options{"--epochs", "60"};
  if (has_adapters) options.insert(options.end(), {"--lora", "8", "--layers", ".*"});
  // By default, the length of examples is the model's context.
  std::vector<std::string> arguments{"finetune",   "--model", base,        "--data",
                                     fixture.data, "--out",   fixture.out, "--lr",
                                     "0.02",       "--batch", "2"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  const Outcome outcome = fixture.run(arguments);
  CAPTURE(outcome.output, outcome.errors);
  REQUIRE(outcome.status == 0);
  const std::string result = has_adapters ? fixture.out : fixture.out + "/last.h5";
  CHECK(contains(outcome.output, "the model is in " + result + "; continue a text with it"));
  const Outcome sample = fixture.run(
      {"sample", "--model", result, "--prompt", "m", "--temperature", "0", "--tokens", "4"});
  CAPTURE(sample.errors);
  CHECK(sample.output == "myes.\n");
  CHECK(contains(
      fixture.run({"sample", "--model", base, "--chat", "--prompt", "m"}).errors,
      "base.h5': expected a model with a chat template, got a model without a Hugging Face"));
  // The base is not changed.
  CHECK(
      std::ranges::equal(load_gpt(base).model.tokens.weight.value(), model.tokens.weight.value()));
}

TEST_CASE("gpt finetune: a resumed training has the date with which it began", "[examples]") {
  const GptFolder fixture;
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
  const GptFolder whole, paused;
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
  const GptFolder fixture;
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
  CHECK(contains(error({}),
                 "--model: expected the model that the training began with, got a model with "
                 "different weights"));
}

TEST_CASE("gpt finetune: killed and interrupted, it is resumed with the same result",
          "[examples]") {
  // A text in each row.
  const std::string settings = " --lora 2 --length 30 --batch 1 --lr 0.01 --epochs 20";
  const GptFolder whole;
  REQUIRE(whole.process(settings).status == 0);
  for (const auto& [signal, status] : {std::pair<std::string, int>("KILL", 137), {"INT", 130}}) {
    INFO(signal);
    const GptFolder stopped;
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
  const GptFolder whole, shared;
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
  const GptFolder fixture;
  const auto evaluate = [&](const std::string& model) {
    const Outcome outcome =
        fixture.run({"evaluate", "--model", model, "--data", fixture.data, "--lines"});
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
    return outcome.output;
  };
  const std::string before = evaluate(fixture.model);
  CHECK(before.ends_with("\n0 of 12 answers are correct\n"));
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
  CHECK(after.ends_with("\n12 of 12 answers are correct\n"));

  // Of several answers the last one counts; a text without a prompt is no question.
  write_bytes(fixture.data,
              R"({"messages": [{"role": "user", "content": "a"}, )"
              R"({"role": "assistant", "content": "no"}, {"role": "user", "content": "b"}, )"
              R"({"role": "assistant", "content": "yes."}]})"
              "\n{\"text\": \"abc\"}\n");
  CHECK(contains(evaluate(fixture.out), " of 1 answers are correct\n"));
  write_bytes(fixture.data, "{\"text\": \"abc\"}\n");
  CHECK(contains(fixture.run({"evaluate", "--model", fixture.model, "--data", fixture.data}).errors,
                 "data.jsonl': expected prompts and answers, got examples without prompts"));
}
