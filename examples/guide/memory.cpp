// memory KIND: prints the peak memory of one pass. KIND is training, recompute or inference.
#include <sys/resource.h>

#include <iostream>

#include <weft/weft.hpp>

using namespace weft;

int main(int argc, char** argv) {
  const std::string kind = argc > 1 ? argv[1] : "training";
  Random random(1);
  const Gpt model({.vocabulary_size = 256,
                   .max_len = 128,
                   .num_hiddens = 128,
                   .num_heads = 4,
                   .num_blocks = 12,
                   .recompute = kind == "recompute"},
                  random);
  const Tokens tokens({8, 128}), targets({8, 128});
  if (kind == "inference") {
    Tape tape = Tape<>::inference();
    model(tape, tokens);
  } else {
    Tape tape({.training = true});
    tape.backward(cross_entropy(model(tape, tokens), targets));
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::cout << kind << ": " << usage.ru_maxrss / 1024 << " MiB\n";
}
