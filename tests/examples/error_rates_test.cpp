#include "examples/pronounce/error_rates.hpp"

#include <weft/autograd/error.hpp>
#include "tests/catch.hpp"

using namespace weft::pronounce;

TEST_CASE("edit distance: insertions, deletions and substitutions cost one each", "[examples]") {
  CHECK(edit_distance({}, {}) == 0);
  CHECK(edit_distance({"K", "AE", "T"}, {}) == 3);
  CHECK(edit_distance({}, {"AH"}) == 1);
  CHECK(edit_distance({"K", "AE", "T"}, {"K", "AE", "T"}) == 0);
  CHECK(edit_distance({"K", "AE", "T"}, {"K", "AH", "T", "S"}) == 2);
  // kitten → sitting
  CHECK(edit_distance({"k", "i", "t", "t", "e", "n"}, {"s", "i", "t", "t", "i", "n", "g"}) == 3);
}

TEST_CASE("error rates: predictions are compared with the closest pronunciation", "[examples]") {
  ErrorRates rates;
  CHECK(rates.to_string() == "word error rate 0.00 %  phone error rate 0.00 %  words 0");
  // Correct by the second pronunciation: 0 errors in 3 phones.
  rates.add({"AY", "DH", "ER"}, {{"IY", "DH", "ER"}, {"AY", "DH", "ER"}});
  // Wrong: 1 error against the second, of 4 phones; 2 against the first, of 3.
  rates.add({"K", "AH", "T", "S"}, {{"K", "AE", "T"}, {"K", "AE", "T", "S"}});
  // Wrong: an empty prediction has 2 errors in 2 phones.
  rates.add({}, {{"AH", "N"}});
  CHECK_THROWS_AS(rates.add({"AH"}, {}), weft::ValueError);
  CHECK(rates.words() == 3);
  CHECK(rates.word_error_rate() == 200.0 / 3);
  CHECK(rates.phone_error_rate() == 300.0 / 9);
  CHECK(rates.to_string() == "word error rate 66.67 %  phone error rate 33.33 %  words 3");
}
