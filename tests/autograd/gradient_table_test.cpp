#include "tests/autograd/gradient_table.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <regex>
#include <set>

#include <weft/autograd/gradcheck.hpp>
#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/elementwise.hpp>
#include <weft/autograd/random.hpp>
#include "tests/catch.hpp"
#include "tests/tight_bound.hpp"

using namespace weft;

namespace {

// The operations that the headers of autograd/ declare: `Var<T> name(` at the start of a line, or
// another type of one or more Vars.
std::set<std::string> declared_operations() {
  const std::regex declaration(
      R"(^(?:WEFT_API )?(?:Var<T>|std::vector<Var<T>>|TopK<Var<T>>) (\w+)\()");
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(WEFT_SOURCE "/autograd/ops")) {
    if (entry.path().extension() != ".hpp") continue;
    std::ifstream header(entry.path());
    for (std::string line; std::getline(header, line);)
      if (std::smatch match; std::regex_search(line, match, declaration)) names.insert(match[1]);
  }
  return names;
}

std::vector<std::string> only_in(const std::set<std::string>& a, const std::set<std::string>& b) {
  std::vector<std::string> names;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(names));
  return names;
}

}  // namespace

TEST_CASE("gradient table: every row agrees with central differences", "[autograd]") {
  // As given, and with each input used twice and not a leaf of the tape.
  const std::vector<std::function<Var<double>(const GradientCase&, Inputs)>> uses = {
      [](const GradientCase& row, const Inputs& inputs) { return row.function(inputs); },
      [](const GradientCase& row, Inputs inputs) {
        for (Var<double>& input : inputs) input = scale(input, 1.0);
        return row.function(inputs) + scale(row.function(inputs), 0.5);
      }};
  Random random(20);
  Index rows = 0;
  Index gradients = 0;
  for (const GradientCase& row : gradient_table()) {
    std::vector<Parameter<double>> parameters;
    for (const InputValues& input : row.small) parameters.emplace_back(input.draw(random));
    NamedParameters<double> named;
    for (Parameter<double>& parameter : parameters)
      named.push_back({"input " + std::to_string(named.size()), &parameter});

    for (const auto& use : uses) {
      const auto function = [&](Tape<double>& tape) {
        Inputs inputs;
        for (Parameter<double>& parameter : parameters) inputs.push_back(tape.parameter(parameter));
        return use(row, inputs);
      };
      const GradCheckReport report = gradcheck(function, named, tight_bound);
      INFO(row.operation << ": " << row.description << "\n" << report);
      CHECK(report.passed());
      gradients += report.checked();
    }
    ++rows;
  }
  std::cout << "gradient table: " << rows << " rows, " << gradients << " gradients compared\n";
}

TEST_CASE("gradient table: every declared operation has a row", "[autograd]") {
  const std::set<std::string> declared = declared_operations();
  REQUIRE(declared.count("softmax") == 1);
  std::set<std::string> in_table;
  for (const GradientCase& row : gradient_table()) in_table.insert(row.operation);
  CHECK(only_in(declared, in_table) == std::vector<std::string>{});
  CHECK(only_in(in_table, declared) == std::vector<std::string>{});
}
