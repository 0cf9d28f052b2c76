// The commands of the program, one file each. Each gets its own part of the command line, argv[0]
// being its name, and returns the exit status.
#pragma once

namespace weft::pronounce {

int train(int argc, char** argv);
int evaluate(int argc, char** argv);
int say(int argc, char** argv);
int gradcheck(int argc, char** argv);
int attention(int argc, char** argv);

}  // namespace weft::pronounce
