#include "examples/toy_tasks/pictures.hpp"

#include "examples/common/attention_maps.hpp"
#include "examples/common/search.hpp"

namespace weft::toy_tasks {

examples::Line accuracy_line(const Task& task, const Learning& learning) {
  return {task.name, learning.validation_seconds, learning.validation_accuracies};
}

std::string draw_accuracies(std::vector<examples::Line> lines,
                            const std::filesystem::path& picture) {
  return examples::draw(examples::LineChart{.title = "Held-out questions answered exactly right",
                                            .x_label = "seconds of training",
                                            .y_label = "percent",
                                            .lines = std::move(lines)},
                        picture);
}

std::string draw_attention(const Solver& solver, const std::string& question,
                           const std::filesystem::path& picture) {
  const std::vector<Sequence> sources{solver.read(question)};
  const Sequence answer = examples::search(solver.model, sources).front().front().tokens;

  examples::HeatMaps maps;
  maps.title = solver.task.name + ": the letters of “" + question +
               "” that each letter of the answer attends to";
  maps.x_label = "letter read";
  maps.y_label = "letter written";
  maps.columns = solver.vocabulary.decode(sources.front());
  maps.rows = solver.vocabulary.decode(answer);
  maps.rows.push_back("end");
  maps.maps_in_row = heads;
  maps.maps = examples::cross_attention_maps(solver.model, sources.front(), answer);
  maps.maps.erase(maps.maps.begin(), maps.maps.end() - heads);
  return examples::draw(maps, picture);
}

}  // namespace weft::toy_tasks
