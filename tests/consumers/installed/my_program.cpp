#include "../consumer.cpp"
