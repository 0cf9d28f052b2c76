// GptFolder: a small Hugging Face model folder with training data, for tests of gpt finetune.
#pragma once

#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <weft/autograd/error.hpp>
#include "examples/gpt/program.hpp"
#include "tests/catch.hpp"
#include "tests/examples/process.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"

namespace weft {

// Returns a row of metrics.csv without the tokens per second.
inline std::string without_time(const std::string& row) {
  std::string kept;
  std::istringstream cells(row);
  int column = 0;
  for (std::string cell; std::getline(cells, cell, ','); ++column)
    if (column != 5) kept += cell + ',';
  return kept + '\n';
}

// A folder with the small Llama of the golden files, whose tokens are letters, a chat template and
// twelve training examples.
struct GptFolder {
  TemporaryFolder folder;
  std::string model = (folder / "model").string(), out = (folder / "out").string(),
              data = (folder / "data.jsonl").string();
  // The command for a process in the folder.
  std::string command = "gpt finetune --model model --data data.jsonl --out out";

  GptFolder() {
    const std::filesystem::path golden = WEFT_TEST_DATA "/language_models/llama";
    std::filesystem::create_directory(model);
    for (const char* const name : {"config.json", "model.safetensors"})
      std::filesystem::copy_file(golden / name, std::filesystem::path(model) / name);
    std::string vocabulary = R"("?":0,"<s>":1,"</s>":2," ":3,"|":4,".":5)";
    for (int i = 0; i < 26; ++i)
      vocabulary += str_cat(",\"", static_cast<char>('a' + i), "\":", 6 + i);
    write_bytes(std::filesystem::path(model) / "tokenizer.json", R"({"added_tokens":[
      {"id":1,"content":"<s>","special":true,"normalized":false},
      {"id":2,"content":"</s>","special":true,"normalized":false}],
      "decoder":{"type":"Fuse"},"model":{"type":"BPE","unk_token":"?","vocab":{)" +
                                                                     vocabulary +
                                                                     R"(},"merges":[]}})");
    write_bytes(std::filesystem::path(model) / "chat_template.jinja",
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
  // Returns the bytes of the adapters and of the checkpoint with the state of the optimizer.
  std::string result() const {
    return bytes_of(std::filesystem::path(out) / "adapter_model.safetensors") +
           bytes_of(std::filesystem::path(out) / "last.h5");
  }
  std::string losses() const {
    std::istringstream metrics(bytes_of(std::filesystem::path(out) / "metrics.csv"));
    std::string rows;
    for (std::string row; std::getline(metrics, row);) rows += without_time(row);
    return rows;
  }
  Outcome chat(const std::string& of) const {
    return run({"sample", "--model", of, "--chat", "--prompt", "m", "--temperature", "0",
                "--tokens", "12"});
  }
  // Returns the paths of the files below the folder, and their contents.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> contents;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path()))
      if (entry.is_regular_file()) contents[entry.path().string()] = bytes_of(entry.path());
    return contents;
  }
  // Returns the error of a fine-tuning run that changes no file.
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

}  // namespace weft
