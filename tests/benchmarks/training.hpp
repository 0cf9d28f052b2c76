// Steps of the trainer: by all processes of mpirun, and the messages between them; and with a
// report or a profile.
#pragma once

#include <string>
#include <vector>

#include <weft/autograd/shape.hpp>
#include <weft/train/parallel/process_group.hpp>

namespace weft::benchmarks {

struct TrainingRate {
  double median_seconds = 0.0;  // of a step
  double tokens = 0.0;          // of all processes, per step
  // Per step and process, on average; and the least that data-parallel training can send,
  // 2 (n - 1) / n of the gradients.
  double bytes_sent = 0.0, least_bytes = 0.0;
};

// Trains "W1", "W3" or "W5" in this many parts (see Workload) for at least five steps. Throws
// ValueError for another name.
TrainingRate measure_training(ProcessGroup& processes, const std::string& workload, Index parts,
                              double seconds);

// What a trainer that also does something else takes for a step.
struct TrainerCost {
  std::string name;  // what else
  double median_seconds = 0.0;
  // How much more than the trainer alone: the median over blocks of steps in turn, and that of all
  // steps together.
  double of_blocks = 0.0, of_all = 0.0;
};

// Of the trainer alone, twice, and with its report, TensorBoard and profile, which compute blocks
// of steps in turn, each on a thread of its own. Throws ValueError as `measure_training`.
std::vector<TrainerCost> measure_costs(const std::string& workload, double seconds);

struct MessageRate {
  double latency = 0.0;    // seconds of a message of one byte
  double bandwidth = 0.0;  // bytes per second of messages of 4 MiB, the size of the trainer's
};

// Between the first two processes.
MessageRate measure_messages(ProcessGroup& processes);

}  // namespace weft::benchmarks
